// Labels of tasks: converts names for Prometheus, and generates labels from others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/config.hpp"
#include "agent/task.hpp"
#include "base/regex.hpp"
#include "base/result.hpp"

namespace plim::agent {

// "app.kubernetes.io/name" becomes "app_kubernetes_io__name". Always a valid name.
std::string sanitise_label(std::string_view key);

// Converts a pod's labels. If two keys become equal, the first in order wins, and `clash` gets the
// name.
Labels sanitise_labels(std::vector<std::pair<std::string, std::string>> pairs,
                       std::vector<std::string>& clashes);

// Adds generated labels where they are missing. The warnings name generators whose source label is
// missing.
class LabelGenerators {
 public:
  static Result<LabelGenerators> make(const std::map<std::string, LabelGenerator>& generators);
  void apply(NodeTask& task, std::vector<std::string>& warnings) const;

 private:
  struct Made {
    std::string label = {};
    LabelGenerator rule = {};
    std::optional<Regex> pattern = {};  // none: the label is the amount of a resource
  };

  std::vector<Made> made_;
};

}  // namespace plim::agent
