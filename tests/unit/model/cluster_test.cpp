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

}  // namespace
}  // namespace berth
