// Scheduler configurations: whatever they hold, the answer is a configuration or mistakes, and what
// was read is written so that it reads back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/json.hpp"
#include "sched/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plim;
  const auto made =
      sched::read_configuration({reinterpret_cast<const char*>(data), size}, "fuzz.conf");
  if (!made) {
    PLIM_ASSERT(!made.error().message.empty());
    return 0;
  }
  const std::string written = to_json(sched::write_configuration(made->config));
  const auto again = sched::read_configuration(written, "written");
  PLIM_ASSERT(again.has_value());
  PLIM_ASSERT(to_json(sched::write_configuration(again->config)) == written);
  return 0;
}
