#include "base/log.hpp"

#include <atomic>
#include <unistd.h>

namespace plim::log {
namespace {
std::atomic<Level> g_level{Level::info};
}  // namespace

void configure(Options options) {
  g_level = options.level;
}

bool enabled(Level level) {
  return level >= g_level;
}

void write(Level level, std::string_view part, std::string_view message, Fields fields) {
  if (!enabled(level)) return;
  std::string line = fmt::format("{} {}", part, message);
  for (const Field& f : fields) line += fmt::format(" {}={}", f.key, f.text);
  line += '\n';
  [[maybe_unused]] auto n = ::write(2, line.data(), line.size());
}

}  // namespace plim::log
