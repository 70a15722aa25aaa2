// Strong ids: an index into one flat array, which cannot be mistaken for an index into another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace berth {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t v) : value(v) {}
  constexpr explicit Id(std::size_t v) : value(static_cast<std::uint32_t>(v)) {}

  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using JobId = Id<struct JobTag>;  // order of arrival; ties keep the input's order
using ServerId = Id<struct ServerTag>;
using DeviceId = Id<struct DeviceTag>;  // over the whole cluster, server by server
using GpuTypeId = Id<struct GpuTypeTag>;
using UserId = Id<struct UserTag>;
using VcId = Id<struct VcTag>;        // virtual cluster
using ModelId = Id<struct ModelTag>;  // kind of ML model: what makes two jobs alike

}  // namespace berth

template <class Tag>
struct std::hash<berth::Id<Tag>> {
  std::size_t operator()(berth::Id<Tag> id) const noexcept { return id.value; }
};
