// Commands report failures with the same codes as daemons.
#pragma once

#include "roles/errors.hpp"

namespace plim::cli {

using roles::code_name;
using roles::config_failure;
using roles::daemon_failure;
using roles::describe;
using roles::entry;
using roles::error_table;
using roles::ErrorEntry;
using roles::Failure;
using roles::file_failure;
using roles::find_error;
using roles::format_failure;
using roles::local_failure;
using roles::Outcome;
using roles::Plm;
using roles::request_failure;
using roles::usage_failure;

}  // namespace plim::cli

#define PLIM_CLI_TRY(target, ...)                                               \
  auto PLIM_CONCAT(plim_cli_, __LINE__) = (__VA_ARGS__);                        \
  if (!PLIM_CONCAT(plim_cli_, __LINE__))                                        \
    return tl::unexpected(std::move(PLIM_CONCAT(plim_cli_, __LINE__)).error()); \
  target = std::move(*PLIM_CONCAT(plim_cli_, __LINE__))
#define PLIM_CLI_CHECK(...)                                   \
  if (auto plim_cli_result = (__VA_ARGS__); !plim_cli_result) \
  return tl::unexpected(std::move(plim_cli_result).error())
