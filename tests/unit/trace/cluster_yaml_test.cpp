#include "trace/cluster_yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace berth::trace {
namespace {

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
      {"gpu_types:\nservers: [{gpus: 1}]\n", "gpu_types: not valid: found nothing"},
      {"servers:\n  - {gpus: 1}\nservers:\n  - {gpus: 2}\n", "c.yaml:3: servers: the key is there"},
      {"servers:\n  - gpus: 1\n    gpus: 2\n", "c.yaml:3: gpus: the key is there twice"},
      {"servers: [{gpus: 1, gpu_type: {a: b}}]\n", "gpu_type: not valid: found a map"},
      {"servers: [{gpus: 1, gpu_type: [V100]}]\n", "gpu_type: not valid: found a list"},
      {"servers: [{gpus: 1, gpu_type: }]\n", "gpu_type: not valid: found nothing"},
      {"servers: [{gpus: 1, name: ''}]\n", "name: not valid: found '', expected a name"},
      {"servers: [{gpus: 1, name: {a: b}}]\n", "name: not valid: found a map"},
      {"name: [a]\nservers: [{gpus: 1}]\n", "name: not valid: found a list"},
      {"gpu_types: [{speed: 1}]\nservers: [{gpus: 1}]\n", "the name of the GPU type"},
      {"servers:\n  - {gpus: 1, name: a}\n  - {gpus: 1, name: a}\n",
       "c.yaml:3: name: a server is there twice: found 'a'"},
      {"servers:\n  - {gpus: 1, name: x1}\n  - {gpus: 1, name: x, count: 2}\n", "found 'x1'"},
      {"servers:\n  - {gpus: 1, name: s1}\n  - {gpus: 1}\n", "found 's1'"},
      {"servers: [{gpus: 1}]\n---\nservers: [{gpus: 2}]\n", "more than one document"},
      {"servers:\n  - &a {gpus: 1}\n  - <<: *a\n", "merge keys (<<) are not supported"},
      {"servers:\n  - {[a]: 1}\n", "not a key: found a list"},
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

TEST(ClusterYaml, ManyLinesAreRefusedSoon) {
  std::string text = "servers:\n";
  while (text.size() < 3U << 20U) text += "  - {gpus: 1}\n";
  const auto cluster = parse_cluster_yaml(text, "c.yaml");
  ASSERT_FALSE(cluster);
  EXPECT_NE(cluster.error().text().find("too large"), std::string::npos);
}

TEST(ClusterYaml, MoreGpuTypesThanFitAreRefused) {
  std::string text = "servers:\n";
  for (int i = 0; i <= 64; ++i) {
    text += "  - {gpus: 1, gpu_type: T" + std::to_string(i) + "}\n";
  }
  const auto cluster = parse_cluster_yaml(text, "c.yaml");
  ASSERT_FALSE(cluster);
  EXPECT_NE(cluster.error().text().find("c.yaml:66: gpu_type"), std::string::npos)
      << cluster.error().text();
}

}  // namespace
}  // namespace berth::trace
