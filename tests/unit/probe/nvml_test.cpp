#include "probe/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace berth {
namespace {

class NvmlTest : public ::testing::Test {
 protected:
  NvmlTest() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-nvml-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    set("");
    ::setenv("BERTH_FAKE_NVML", file().c_str(), 1);
  }
  ~NvmlTest() override {
    ::unsetenv("BERTH_FAKE_NVML");
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] std::string file() const { return folder_ + "/gpus"; }
  void set(const std::string& text) const { std::ofstream(file()) << text; }

  std::string folder_;
};

TEST_F(NvmlTest, SaysWhatIsMissing) {
  const auto none = Nvml::open("/no/such/library.so");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(none.error().message.find("/no/such/library.so"), std::string::npos);
  const auto old = Nvml::open("libm.so.6");
  ASSERT_FALSE(old);
  EXPECT_NE(old.error().message.find("too old"), std::string::npos);
  ::unsetenv("BERTH_FAKE_NVML");
  const auto silent = Nvml::open(BERTH_FAKE_NVML_LIBRARY);
  ASSERT_FALSE(silent);
  EXPECT_NE(silent.error().message.find("Driver Not Loaded"), std::string::npos);
}

TEST_F(NvmlTest, DescribesDevices) {
  set("GPU-a A100 1000 10 ok\nGPU-b T4 2000 20 lost\nGPU-c A100 3000 30 ok\n");
  const auto nvml = Nvml::open(BERTH_FAKE_NVML_LIBRARY);
  ASSERT_TRUE(nvml) << nvml.error().text();
  const auto devices = nvml->devices();
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 2U);
  EXPECT_EQ((*devices)[0].uuid, "GPU-a");
  EXPECT_EQ((*devices)[0].name, "A100");
  EXPECT_EQ((*devices)[0].memory_bytes, 1000);
  EXPECT_EQ((*devices)[1].uuid, "GPU-c");
}

TEST_F(NvmlTest, TellsWhoUsesADevice) {
  set("GPU-a A100 1000 10 ok 7 8\n");
  const auto nvml = Nvml::open(BERTH_FAKE_NVML_LIBRARY);
  ASSERT_TRUE(nvml);
  auto use = nvml->use("GPU-a");
  ASSERT_TRUE(use);
  EXPECT_EQ(use->memory_used_bytes, 10);
  EXPECT_EQ(use->processes, (std::vector<std::int32_t>{7, 8}));
  // More than the first call has room for.
  std::string line = "GPU-a A100 1000 10 ok";
  for (int pid = 1; pid <= 500; ++pid) line += " " + std::to_string(pid);
  set(line + "\n");
  use = nvml->use("GPU-a");
  ASSERT_TRUE(use);
  EXPECT_EQ(use->processes.size(), 500U);
  set("GPU-a A100 1000 10 lost\n");
  EXPECT_FALSE(nvml->use("GPU-a"));
  EXPECT_FALSE(nvml->use("GPU-none"));
}

}  // namespace
}  // namespace berth
