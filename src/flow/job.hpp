// A job file: what it must be, what is filled in, and everything that is wrong with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "flow/op.hpp"

namespace plim::flow {

struct OpConfig {
  const OpEntry* entry = nullptr;
  json::object options;  // with defaults, and what an api brought
};

struct Job {
  std::string name;
  bool persistent = false;
  unsigned workers = 1;
  unsigned slicers = 1;
  unsigned max_retries = 3;
  std::vector<OpConfig> operations;  // at least two, the first is a reader
  json::object document;             // the job with all defaults, as an execution keeps it
};

struct CheckedJob {
  std::optional<Job> job = {};  // none when there are errors
  Problems problems = {};
  std::string name = {};  // for messages, also of a broken job

  std::vector<std::string> wrong_operations = {};  // if nothing but their options is wrong

  // "Validation failed for job config: NAME - N problems", or "…operation config: OP - …" as the
  // ancestor says of a job that is fine but for its operations; then one line each.
  std::string describe_errors() const;
};

CheckedJob check_job(const json::value& posted, unsigned cpus);

// By the file's name: .yaml and .yml, else JSON.
Result<json::value> read_job_file(const std::string& path);
Result<json::value> parse_job(std::string_view text, const std::string& path);

// Whether every record reaches the outside once, and why or why not.
Guarantee guarantee_of(const Job& job);

}  // namespace plim::flow
