// Parses and checks a job file, sets defaults, and reports everything that is wrong with it.
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
  json::object options;  // with defaults, and with the options of an api
};

struct Job {
  std::string name;
  bool persistent = false;
  unsigned workers = 1;
  unsigned slicers = 1;
  unsigned max_retries = 3;
  std::vector<OpConfig> operations;  // at least two, the first is a reader
  json::object document;             // the job with all defaults, as stored with the execution
};

struct CheckedJob {
  std::optional<Job> job = {};  // none if there are errors
  Problems problems = {};
  std::string name = {};  // for messages, also if the job is invalid

  std::vector<std::string> wrong_operations = {};  // if only the options of operations are wrong

  // "Validation failed for job config: NAME - N problems", then one line per problem. If only
  // operations are wrong, it is "…operation config: OP - …", as in Teraslice.
  std::string describe_errors() const;
};

CheckedJob check_job(const json::value& posted, unsigned cpus);

// .yaml and .yml files are YAML, all others JSON.
Result<json::value> read_job_file(const std::string& path);
Result<json::value> parse_job(std::string_view text, const std::string& path);

// Whether the job outputs every record exactly once, and the reason.
Guarantee guarantee_of(const Job& job);

}  // namespace plim::flow
