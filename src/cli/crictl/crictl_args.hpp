// The command line of crictl, and where it finds the runtime.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "kube/config.hpp"

namespace plim::cli {

// Flags are stored under their long names. A flag without a value has the value "true".
struct CrictlWords {
  std::string command = {};  // its first name: "images" for img; "": only --help or --version
  std::map<std::string, std::string, std::less<>> flags = {};
  std::vector<std::string> labels = {}, filters = {};  // flags that repeat
  std::vector<std::string> arguments = {};

  bool has(std::string_view name) const { return flags.contains(name); }

  std::string text(std::string_view name) const;
};

// Accepts "-aq", "--output=json" and "-output json", as crictl does.
Result<CrictlWords> parse_crictl(const std::vector<std::string>& words);

struct CrictlEndpoint {
  std::string socket;  // path of a unix socket
  std::chrono::nanoseconds timeout = std::chrono::seconds(2);
};

// By the flag, the environment, /etc/crictl.yaml, or the first known socket that exists.
// `for_images`: --image-endpoint takes precedence.
Result<CrictlEndpoint> find_endpoint(const CrictlWords& words, const kube::GetEnv& env,
                                     bool for_images);

std::string crictl_usage();

}  // namespace plim::cli
