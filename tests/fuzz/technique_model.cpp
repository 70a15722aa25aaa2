// Reads a model of any technique from arbitrary JSON: {"technique": NAME, "model": ...}. Whatever
// is accepted must predict a finite number and survive being saved and read again.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "interference/technique.h"

namespace {

using berth::interference::find_technique;
using berth::interference::TechniqueInfo;

void check(const TechniqueInfo& info, const nlohmann::json& model) {
  const auto loaded = info.load(model);
  if (!loaded) return;
  const std::vector<double> row((*loaded)->feature_count(), 0.5);
  const double predicted = (*loaded)->predict(row);
  if (!std::isfinite(predicted)) std::abort();
  nlohmann::json saved;
  (*loaded)->save(saved);
  const auto again = info.load(saved);
  if (!again || (*again)->predict(row) != predicted) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = nlohmann::json::parse(data, data + size, nullptr, false);
  if (!input.is_object() || !input.contains("technique") || !input.contains("model")) return 0;
  const auto& name = input["technique"];
  if (!name.is_string()) return 0;
  const auto* info = find_technique(name.get_ref<const std::string&>());
  if (info != nullptr) check(*info, input["model"]);
  return 0;
}
