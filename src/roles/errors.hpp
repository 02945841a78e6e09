// What people see when something fails: at most three lines and a code that `explain error`
// expands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/result.hpp"
#include "kube/config.hpp"

namespace plim::roles {

// Numbers are stable: once released, one is never given another meaning.
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
  std::string_view remedy;  // also the "next" line when the place of failure has no better one
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
  std::string next = {};   // what to do; empty: the table's remedy
  // Usage mistakes are one line, and a reader that went away is no line at all.
  enum class Shape { three_lines, one_line, silent } shape = Shape::three_lines;
};

template <class T>
using Outcome = tl::expected<T, Failure>;

// "error PLM-1001: …" with the lines that belong to its shape, each ended by a newline.
std::string format_failure(const Failure& failure, std::string_view program);

tl::unexpected<Failure> usage_failure(Plm code, std::string what, std::string hint = {});
// An answer or a failed connection of the API server; exit code and PLM code follow the error's.
Failure request_failure(const Error& error, std::string tried);
// A kubeconfig that cannot be used.
Failure config_failure(const Error& error);
// A file or stream of the user's.
Failure file_failure(Plm code, const Error& error);
// A failure of src/local.
Failure local_failure(const Error& error);
// A daemon that could not start, or not go on: by `usual`, unless somebody has its address.
Failure daemon_failure(Plm usual, const Error& error);

// "https://1.2.3.4:6443 (context dev of ~/.kube/config)", for the line that says what was tried.
std::string describe(const kube::Config& config);

}  // namespace plim::roles
