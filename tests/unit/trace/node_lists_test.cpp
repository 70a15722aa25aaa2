#include "trace/node_lists.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/cluster_file.h"
#include "unit/trace/data_dir.h"

namespace berth::trace {
namespace {

Cluster parsed(std::string_view text) {
  auto result = parse_node_list(text, "nodes.txt");
  EXPECT_TRUE(result.has_value()) << "not recognised";
  if (!result) return {};
  EXPECT_TRUE(*result) << (*result ? "" : result->error().text());
  return *result ? std::move(**result) : Cluster{};
}

std::string refused(std::string_view text) {
  const auto result = parse_node_list(text, "nodes.txt");
  EXPECT_TRUE(result && !*result) << text;
  return result && !*result ? result->error().text() : "";
}

std::string types_of(const Cluster& cluster) {
  std::string out;
  for (const Server& server : cluster.servers) {
    out += server.name + "=" + std::to_string(server.gpus) + "x" +
           cluster.gpu_types[server.gpu_type.index()].name + " ";
  }
  return out;
}

constexpr std::string_view kTwoNodes =
    "NodeName=n1 Arch=x86_64 CoresPerSocket=16 \n"
    "   CPUAlloc=8 CPUTot=64 CPULoad=1.20\n"
    "   Gres=gpu:a100:4(S:0-1),shard:16\n"
    "   OS=Linux 6.1.0 #1 SMP RealMemory is not here\n"
    "   RealMemory=512000 AllocMem=65536 FreeMem=1 Sockets=2 Boards=1\n"
    "   State=MIXED ThreadsPerCore=2 Weight=1\n"
    "   CfgTRES=cpu=64,mem=500G,billing=64,gres/gpu=4,gres/gpu:a100=4\n"
    "\n"
    "NodeName=n2 Arch=x86_64 CPUTot=32 RealMemory=256000 Gres=(null) State=DOWN*+DRAIN\n"
    "   Reason=Gres=gpu:h100:8 looked odd [root@2026-03-01T10:00:00]\n";

TEST(ScontrolNodes, NodesWithTheirGpusProcessorsAndMemory) {
  const Cluster cluster = parsed(kTwoNodes);
  EXPECT_EQ(types_of(cluster), "n1=4xa100 n2=0x ");
  EXPECT_EQ(cluster.servers[0].capacity[Resource::kCpuMilli], 64'000);
  EXPECT_EQ(cluster.servers[0].capacity[Resource::kMemoryMib], 512'000);
  EXPECT_EQ(cluster.gpus(), 4U);
  EXPECT_EQ(cluster.name, "nodes.txt");
}

TEST(ScontrolNodes, OneLineANodeAndAnyGres) {
  const Cluster cluster = parsed(
      "NodeName=a CPUTot=8 RealMemory=1000 Gres=gpu:2 Reason=none\r\n"
      "NodeName=b CPUTot=8 RealMemory=1000 Gres=gpu:a100:2,gpu:v100:2(S:0)\r\n"
      "NodeName=c CPUTot=8 RealMemory=1000 CfgTRES=cpu=8,gres/gpu=3\r\n"
      "NodeName=d Gres=gpu:1g.5gb:7\r\n");
  EXPECT_EQ(types_of(cluster), "a=2x b:a100=2xa100 b:v100=2xv100 c=3x d=7x1g.5gb ");
  EXPECT_EQ(cluster.servers[1].capacity[Resource::kCpuMilli], 4'000);
  EXPECT_EQ(cluster.servers[4].capacity[Resource::kCpuMilli], 0);
}

TEST(ScontrolNodes, RefusesWhatIsDamaged) {
  EXPECT_NE(refused("NodeName=a Gres=gpu:many:x\n").find("nodes.txt:1: Gres"), std::string::npos);
  EXPECT_NE(refused("NodeName=a CPUTot=-1\n").find("CPUTot"), std::string::npos);
  EXPECT_NE(refused("NodeName=a\nNodeName=a\n").find("nodes.txt:2"), std::string::npos);
  EXPECT_NE(refused("NodeName=\n").find("NodeName"), std::string::npos);
  EXPECT_NE(refused("NodeName=a Gres=gpu:99999\n").find("gpus"), std::string::npos);
}

TEST(PhillyMachines, BothPublishedForms) {
  const Cluster published =
      parsed("machineId,number of GPUs, single GPU mem\nm0,2, 12GB\nm1,8, 24GB\n");
  EXPECT_EQ(types_of(published), "m0=2x12GB m1=8x24GB ");
  EXPECT_EQ(published.gpu_types[1].memory_mib, 24 * 1024);
  EXPECT_EQ(types_of(parsed(",machineId,number of GPUs\n0,m0,8\n1,m1,0\n")), "m0=8x m1=0x ");
  EXPECT_NE(refused("machineId,number of GPUs\nm0,two\n").find("nodes.txt:2"), std::string::npos);
  EXPECT_NE(refused("machineId,number of GPUs\n").find("no node"), std::string::npos);
}

TEST(OpenbNodes, NodesWithAndWithoutGpus) {
  const Cluster cluster =
      parsed("sn,cpu_milli,memory_mib,gpu,model\nn1,64000,262144,2,T4\nn2,32000,1000,0,\n");
  EXPECT_EQ(types_of(cluster), "n1=2xT4 n2=0x ");
  EXPECT_EQ(cluster.servers[0].capacity[Resource::kMemoryMib], 262'144);
}

TEST(NodeLists, OtherTextIsNotTaken) {
  EXPECT_FALSE(parse_node_list("servers:\n  - count: 2\n", "f"));
  EXPECT_FALSE(parse_node_list("", "f"));
  EXPECT_FALSE(parse_node_list("job id,arrival time (sec),size,duration (sec)\n", "f"));
}

TEST(NodeLists, ReadsThePublishedLists) {
  BERTH_REQUIRE_DATA_FILE(philly, "traces/philly_cluster/cluster_machine_list");
  BERTH_REQUIRE_DATA_FILE(revised, "traces/philly_cluster/revised_machine_list.csv");
  BERTH_REQUIRE_DATA_FILE(openb, "traces/alibaba_gpu_v2023/openb_node_list_gpu_node.csv.xz");
  const auto gpus = [](const std::string& path) -> std::size_t {
    const auto cluster = load_cluster(path);
    EXPECT_TRUE(cluster) << (cluster ? "" : cluster.error().text());
    return cluster ? cluster->gpus() : 0;
  };
  EXPECT_EQ(gpus(philly), 2'490U);
  EXPECT_EQ(gpus(revised), 3'205U);
  EXPECT_EQ(gpus(openb), 6'212U);
}

}  // namespace
}  // namespace berth::trace
