#include "probe/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "probe/nvml_abi.h"

namespace berth {
namespace {

constexpr NvmlReturn kSuccess = 0;
constexpr NvmlReturn kInsufficientSize = 7;

constexpr std::size_t kTextBytes = 96;

}  // namespace

struct Nvml::Library {
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (started && shutdown != nullptr) (void)shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <class Function>
  [[nodiscard]] bool load(Function& function, std::initializer_list<const char*> names) const {
    for (const char* symbol : names) {
      function = reinterpret_cast<Function>(::dlsym(handle, symbol));
      if (function != nullptr) return true;
    }
    return false;
  }
  [[nodiscard]] std::string text(NvmlReturn code) const {
    return error_text != nullptr ? error_text(code) : fmt::format("error {}", code);
  }

  void* handle = nullptr;
  bool started = false;
  NvmlReturn (*init)() = nullptr;
  NvmlReturn (*shutdown)() = nullptr;
  const char* (*error_text)(NvmlReturn) = nullptr;
  NvmlReturn (*count)(unsigned int*) = nullptr;
  NvmlReturn (*by_index)(unsigned int, NvmlDevice*) = nullptr;
  NvmlReturn (*by_uuid)(const char*, NvmlDevice*) = nullptr;
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned int) = nullptr;
  NvmlReturn (*name)(NvmlDevice, char*, unsigned int) = nullptr;
  NvmlReturn (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  NvmlReturn (*processes)(NvmlDevice, unsigned int*, NvmlProcess*) = nullptr;
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;
Nvml::~Nvml() = default;

Result<Nvml> Nvml::open(const std::string& path) {
  auto library = std::make_unique<Library>();
  library->handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr) {
    const char* const why = ::dlerror();
    return fail(Error{.kind = ErrorKind::kUnsupported,
                      .message = fmt::format("no NVIDIA driver: {}", why ? why : path)});
  }
  (void)library->load(library->error_text, {"nvmlErrorString"});
  const bool all = library->load(library->init, {"nvmlInit_v2"}) &&
                   library->load(library->shutdown, {"nvmlShutdown"}) &&
                   library->load(library->count, {"nvmlDeviceGetCount_v2"}) &&
                   library->load(library->by_index, {"nvmlDeviceGetHandleByIndex_v2"}) &&
                   library->load(library->by_uuid, {"nvmlDeviceGetHandleByUUID"}) &&
                   library->load(library->uuid, {"nvmlDeviceGetUUID"}) &&
                   library->load(library->name, {"nvmlDeviceGetName"}) &&
                   library->load(library->memory, {"nvmlDeviceGetMemoryInfo"}) &&
                   library->load(library->processes, {"nvmlDeviceGetComputeRunningProcesses_v3",
                                                      "nvmlDeviceGetComputeRunningProcesses_v2"});
  if (!all) {
    return fail(Error{.kind = ErrorKind::kUnsupported,
                      .message = fmt::format("{} is too old: a function is missing", path)});
  }
  const NvmlReturn code = library->init();
  if (code != kSuccess) {
    return fail(Error{
        .kind = ErrorKind::kUnsupported,
        .message = fmt::format("the NVIDIA driver does not answer: {}", library->text(code))});
  }
  library->started = true;
  return Nvml(std::move(library));
}

Result<std::vector<GpuDescription>> Nvml::devices() const {
  unsigned int count = 0;
  const NvmlReturn code = library_->count(&count);
  if (code != kSuccess) {
    return fail(Error{.kind = ErrorKind::kUnsupported,
                      .message = fmt::format("the NVIDIA driver does not tell its GPUs: {}",
                                             library_->text(code))});
  }
  std::vector<GpuDescription> out;
  for (unsigned int i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    std::array<char, kTextBytes> uuid{};
    std::array<char, kTextBytes> name{};
    NvmlMemory memory;
    // One less: what is there is ended by a zero whatever the library does.
    if (library_->by_index(i, &device) != kSuccess ||
        library_->uuid(device, uuid.data(), kTextBytes - 1) != kSuccess ||
        library_->name(device, name.data(), kTextBytes - 1) != kSuccess ||
        library_->memory(device, &memory) != kSuccess) {
      continue;
    }
    out.push_back({.uuid = uuid.data(),
                   .name = name.data(),
                   .memory_bytes = static_cast<std::int64_t>(memory.total)});
  }
  return out;
}

std::optional<GpuUse> Nvml::use(const std::string& uuid) const {
  NvmlDevice device = nullptr;
  NvmlMemory memory;
  if (library_->by_uuid(uuid.c_str(), &device) != kSuccess ||
      library_->memory(device, &memory) != kSuccess) {
    return std::nullopt;
  }
  GpuUse use;
  use.memory_used_bytes = static_cast<std::int64_t>(memory.used);
  // New ones may come between two calls: ask until they fit.
  std::vector<NvmlProcess> processes(64);
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    auto count = static_cast<unsigned int>(processes.size());
    const NvmlReturn code = library_->processes(device, &count, processes.data());
    if (code == kInsufficientSize) {
      processes.resize(std::max<std::size_t>(count, processes.size()) * 2);
      continue;
    }
    if (code != kSuccess) return std::nullopt;
    for (unsigned int p = 0; p < count && p < processes.size(); ++p) {
      use.processes.push_back(static_cast<std::int32_t>(processes[p].pid));
    }
    return use;
  }
  return use;
}

}  // namespace berth
