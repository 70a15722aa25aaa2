// One field of a JSON object as a C++ value; the error names the field.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace berth::interference {

// T: bool, double, std::string, integers, vectors of these. A number must be finite (JSON has no
// other).
template <class T>
[[nodiscard]] Result<T> json_field(const nlohmann::json& in, const char* name) {
  const auto it = in.is_object() ? in.find(name) : in.end();
  if (!in.is_object() || it == in.end()) {
    return fail(bad_input({}, 0, name, "a field of the model is missing", "nothing", "a value"));
  }
  try {
    return it->template get<T>();
  } catch (const nlohmann::json::exception&) {
    return fail(bad_input({}, 0, name, "a field of the model is not of its type", it->type_name()));
  }
}

}  // namespace berth::interference
