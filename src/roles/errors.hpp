// Failures as the user sees them: at most three lines, and a code that `explain error` explains.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/result.hpp"
#include "kube/config.hpp"

namespace plim::roles {

// Numbers are stable: a released number never changes its meaning.
enum class Plm {
  unknown_command = 1001,
  unknown_flag = 1002,
  wrong_arguments = 1003,
  bad_flag_value = 1004,
  bad_environment = 1005,
  bad_settings_file = 1006,
  bad_template = 1008,
  no_cluster = 1101,
  bad_kubeconfig = 1102,
  unreachable = 1201,
  timed_out = 1202,
  unauthorized = 1203,
  forbidden = 1204,
  not_found = 1205,
  exists = 1206,
  refused = 1207,
  server_failed = 1208,
  throttled = 1209,
  expired = 1210,
  unexpected_answer = 1211,
  cannot_read = 1301,
  cannot_write = 1302,
  cannot_listen = 1303,
  not_running = 1401,
  already_running = 1402,
  local_failed = 1403,
  store_damaged = 1404,
  bad_agent_config = 1501,
  root_refused = 1502,
  bad_pool_config = 1601,
  bad_scheduler_config = 1701,
  internal = 1901,
};

struct ErrorEntry {
  Plm code;
  std::string_view title;
  std::string_view meaning;
  std::string_view remedy;  // also the "next" line if the failure has no better one
};

std::span<const ErrorEntry> error_table();
const ErrorEntry* find_error(std::string_view text);  // "PLM-1203", "plm-1203" or "1203"
const ErrorEntry& entry(Plm code);
std::string code_name(Plm code);  // "PLM-1203"

struct Failure {
  Plm code = Plm::internal;
  int exit = 1;
  std::string what;        // what happened
  std::string tried = {};  // which file, server, context; may be empty
  std::string next = {};   // what to do; empty: the remedy of the table
  // Usage errors are one line. A closed output pipe prints nothing.
  enum class Shape { three_lines, one_line, silent } shape = Shape::three_lines;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

// "error PLM-1001: …" with the lines of its shape, each with a newline.
std::string format_failure(const Failure& failure, std::string_view program);

tl::unexpected<Failure> usage_failure(Plm code, std::string what, std::string hint = {});
// A failed request to the API server. The exit code and the PLM code follow from the error code.
Failure request_failure(const Error& error, std::string tried);
// A kubeconfig that cannot be used.
Failure config_failure(const Error& error);
// A file or stream that the user named.
Failure file_failure(Plm code, const Error& error);
// A failure in src/local.
Failure local_failure(const Error& error);
// A daemon that could not start or continue: code `usual`, or cannot_listen if its address is in
// use.
Failure daemon_failure(Plm usual, const Error& error);

// "https://1.2.3.4:6443 (context dev of ~/.kube/config)", for the line that says what was tried.
std::string describe(const kube::Config& config);

}  // namespace plim::roles
