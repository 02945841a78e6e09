#include "cli/daemon_log.hpp"

namespace plim::cli {

void configure_role_log(const Values& values, log::Level level) {
  if (!values.text("log-level").empty()) return;
  log::configure(
      {.level = level,
       .format = log::parse_format(values.text("log-format")).value_or(log::Format::text)});
}

}  // namespace plim::cli
