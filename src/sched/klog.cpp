#include "sched/klog.hpp"

#include <unistd.h>

#include <fmt/chrono.h>

#include "base/json.hpp"

namespace plim::sched {

KlogField::KlogField(std::string_view name, std::string_view text)
    : key(name), value(to_json(json::value(text))) {}

void Klog::append(std::string_view message, std::initializer_list<KlogField> fields,
                  std::source_location where) {
  const auto now = std::chrono::floor<std::chrono::microseconds>(clock_.wall());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  std::string_view file = where.file_name();
  file = file.substr(file.rfind('/') + 1);
  fmt::format_to(std::back_inserter(lines_), "I{:%m%d %H:%M:%S}.{:06} {:7} {}:{}] {}",
                 fmt::gmtime(std::chrono::system_clock::to_time_t(
                     std::chrono::time_point_cast<std::chrono::system_clock::duration>(seconds))),
                 (now - seconds).count(), ::getpid(), file, where.line(),
                 to_json(json::value(message)));
  for (const KlogField& field : fields)
    fmt::format_to(std::back_inserter(lines_), " {}={}", field.key, field.value);
  lines_ += '\n';
}

void Klog::info(std::string_view message, std::initializer_list<KlogField> fields,
                std::source_location where) {
  append(message, fields, where);
  flush();
}

void Klog::flush() {
  std::string_view rest = lines_;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) break;  // as in the log, a line that cannot be written is lost
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  lines_.clear();
}

}  // namespace plim::sched
