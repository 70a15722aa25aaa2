#include "model/cluster.h"

#include <gtest/gtest.h>

#include "trace/cluster_file.h"

namespace berth {
namespace {

TEST(Cluster, BuiltInOnesHaveThePublishedSizes) {
  const auto philly = trace::load_cluster("philly");
  ASSERT_TRUE(philly);
  EXPECT_EQ(philly->servers.size(), 552U);
  EXPECT_EQ(philly->gpus(), 231U * 8 + 321U * 2);
  const auto real = trace::load_cluster("mlfs-real");
  ASSERT_TRUE(real);
  EXPECT_EQ(real->servers.size(), 20U);
  EXPECT_EQ(real->gpus(), 80U);
  EXPECT_EQ(real->servers[0].capacity[Resource::kCpuMilli], 32'000);
  const auto large = trace::load_cluster("mlfs-large");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->servers.size(), 550U);
  EXPECT_EQ(large->gpus(), 2474U);
}

TEST(Cluster, Sizes) {
  EXPECT_EQ(trace::load_cluster("3x2")->gpus(), 6U);
  for (const char* const bad : {"0x1", "1x0", "-1x2", "99999999x1", "1000000x16000"}) {
    const auto cluster = trace::load_cluster(bad);
    ASSERT_FALSE(cluster) << bad;
    EXPECT_EQ(cluster.error().exit_code(), 2);
  }
}

TEST(Cluster, UnknownNameNamesTheNearest) {
  const auto cluster = trace::load_cluster("phily");
  ASSERT_FALSE(cluster);
  EXPECT_NE(cluster.error().text().find("'philly'"), std::string::npos) << cluster.error().text();
  EXPECT_EQ(cluster.error().exit_code(), 2);
}

TEST(ClusterYaml, TypesAndServers) {
  const auto cluster = parse_cluster_yaml(
      "name: mine\n"
      "gpu_types:\n"
      "  - {name: V100, memory_mib: 16384}\n"
      "  - {name: K80, speed: 0.25}\n"
      "servers:\n"
      "  - {count: 2, name: big, gpus: 4, gpu_type: V100, cpus: 32, memory_mib: 244000}\n"
      "  - {gpus: 1, gpu_type: K80, network_bytes_per_s: 1250000000}\n",
      "c.yaml");
  ASSERT_TRUE(cluster) << cluster.error().text();
  EXPECT_EQ(cluster->name, "mine");
  EXPECT_EQ(cluster->servers.size(), 3U);
  EXPECT_EQ(cluster->gpus(), 9U);
  EXPECT_EQ(cluster->gpus_of(0b01), 8);
  EXPECT_EQ(cluster->gpus_of(0b10), 1);
  EXPECT_EQ(cluster->gpu_types[1].speed_milli, 250);
  EXPECT_EQ(cluster->servers[1].capacity[Resource::kCpuMilli], 32'000);
  EXPECT_EQ(cluster->devices[8].server, ServerId{2U});
}

struct BadYaml {
  const char* text;
  const char* message;  // part of it
};

TEST(ClusterYaml, WhatIsWrongIsNamedWithItsLine) {
  const BadYaml cases[] = {
      {"servers:\n  - {gpus: 4, gpu: 3}\n", "c.yaml:2: gpu: unknown key"},
      {"servers:\n  - {gpus: -1}\n", "c.yaml:2: gpus"},
      {"servers:\n  - {gpus: 1.5}\n", "c.yaml:2: gpus"},
      {"servers:\n  - {count: 2}\n", "c.yaml:2: gpus"},
      {"servers: []\n", "servers"},
      {"{}", "servers"},
      {"- 1\n", "a map"},
      {"servers:\n\t- gpus: 1\n", "c.yaml:2: not valid YAML"},
      {"servers:\n  - {count: 2000000, gpus: 1}\n", "count"},
      {"gpu_types: [{name: A}]\nservers: [{gpus: 1, gpu_type: B}]\n", "unknown GPU type 'B'"},
      {"gpu_types: [{name: A}, {name: A}]\nservers: [{gpus: 1}]\n", "each GPU type once"},
      {"servers:\n  - [1, 2]\n", "c.yaml:2"},
      {"", "a map"},
  };
  for (const BadYaml& bad : cases) {
    const auto cluster = parse_cluster_yaml(bad.text, "c.yaml");
    ASSERT_FALSE(cluster) << bad.text;
    EXPECT_NE(cluster.error().text().find(bad.message), std::string::npos)
        << bad.text << "\n"
        << cluster.error().text();
    EXPECT_EQ(cluster.error().exit_code(), 2);
  }
}

}  // namespace
}  // namespace berth
