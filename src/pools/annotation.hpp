// The pod annotation that lists the processes of a container, and the pool of each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace plim::pools {

// Why a pod is rejected. Codes are stable: users look them up.
struct Rejection {
  std::string_view code;  // "ANN005"
  std::string text;       // names container, process and numbers
};

template <class T>
using Admitted = tl::expected<T, Rejection>;

struct AnnotatedProcess {
  std::string pool;
  std::int64_t cpus = 0;  // thousandths of a CPU if the pool is shared
};

struct AnnotatedContainer {
  std::string name;
  std::vector<AnnotatedProcess> processes = {};
};

struct Annotation {
  std::vector<AnnotatedContainer> containers = {};
  std::vector<std::string> warnings = {};

  const AnnotatedContainer* find(std::string_view container) const;
};

// Makes the checks that do not need the pod: ANN001 to ANN008 and ANN014. The starter accepts the
// same texts, so that a mistake is found at admission and not when the container starts.
Admitted<Annotation> read_annotation(std::string_view text);

}  // namespace plim::pools
