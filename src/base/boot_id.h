// Which start of the machine this is.
#pragma once

#include <string>

namespace berth {

// Another one after each boot; "" where the kernel does not say.
[[nodiscard]] const std::string& boot_id();

}  // namespace berth
