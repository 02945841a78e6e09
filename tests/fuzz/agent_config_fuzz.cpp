// Configuration files of the agent: whatever they hold, the answer is a configuration or mistakes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const plim::agent::GetEnv env = [](const std::string&) { return std::nullopt; };
  (void)plim::agent::parse_config({reinterpret_cast<const char*>(data), size}, "f", env);
  return 0;
}
