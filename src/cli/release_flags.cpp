#include "cli/release_flags.hpp"

#include <fmt/format.h>

namespace plim::cli {

Outcome<ChosenRelease> chosen_release(const Values& values) {
  ChosenRelease out;
  if (const std::string& version = values.text("emulated-version"); !version.empty()) {
    auto read = placement::parse_release(version);
    if (!read)
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--emulated-version: {}", read.error().message));
    out.release = *read;
  }
  auto idle = placement::apply_feature_gates(values.text("feature-gates"), out.release);
  if (!idle)
    return usage_failure(Plm::bad_flag_value,
                         fmt::format("--feature-gates: {}", idle.error().message));
  out.idle_gates = std::move(*idle);
  return out;
}

}  // namespace plim::cli
