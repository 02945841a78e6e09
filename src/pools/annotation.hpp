// The pod annotation that says which processes a container starts, and on CPUs of which pools.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace plim::pools {

// Why a pod is refused. Codes are stable: people look them up.
struct Rejection {
  std::string_view code;  // "ANN005"
  std::string text;       // names container, process and numbers
};

template <class T>
using Admitted = tl::expected<T, Rejection>;

struct AnnotatedProcess {
  std::string pool;
  std::int64_t cpus = 0;  // of a shared pool thousandths
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

// Only what needs no pod to be seen: ANN001 to ANN008 and ANN014. What passes is what the starter
// reads too, so nothing is found wrong only when the container runs.
Admitted<Annotation> read_annotation(std::string_view text);

}  // namespace plim::pools
