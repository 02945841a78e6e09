// A small kind with every merge strategy, for tests of patches.
#pragma once

#include "base/json.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver::testing {

inline constexpr Field kPortFields[] = {
    {.name = "containerPort", .scalar = Scalar::int32},
    {.name = "protocol", .fallback = R"("TCP")"},
    {.name = "hostPort", .scalar = Scalar::int32},
};
inline constexpr Type kPort{.name = "Port", .fields = kPortFields};

inline constexpr Field kProbeFields[] = {
    {.name = "path"},
    {.name = "period", .scalar = Scalar::int32},
};
inline constexpr Type kProbe{.name = "Probe", .fields = kProbeFields};

inline constexpr Field kContainerFields[] = {
    {.name = "name"},
    {.name = "image"},
    {.name = "args", .shape = Shape::list},
    {.name = "ports",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kPort,
     .list = ListKind::map,
     .list_keys = "containerPort,protocol",
     .merge_key = "containerPort",
     .merge = true},
    {.name = "probe", .scalar = Scalar::object, .type = &kProbe},
};
inline constexpr Type kContainer{.name = "Container", .fields = kContainerFields};

inline constexpr Field kSpecFields[] = {
    {.name = "replicas", .scalar = Scalar::int32},
    {.name = "selector", .shape = Shape::map, .atomic = true},
    {.name = "strategy", .scalar = Scalar::object, .type = &kProbe, .retain_keys = true},
    {.name = "containers",
     .scalar = Scalar::object,
     .shape = Shape::list,
     .type = &kContainer,
     .list = ListKind::map,
     .list_keys = "name",
     .merge_key = "name",
     .merge = true},
    {.name = "probes", .scalar = Scalar::object, .shape = Shape::map, .type = &kProbe},
    {.name = "tokens", .shape = Shape::list, .list = ListKind::set, .merge = true},
    {.name = "tolerations", .scalar = Scalar::object, .shape = Shape::list, .type = &kProbe},
};
inline constexpr Type kSpec{.name = "Spec", .fields = kSpecFields};

inline constexpr Field kSampleFields[] = {
    {.name = "spec", .scalar = Scalar::object, .type = &kSpec},
    {.name = "data", .shape = Shape::map},
    {.name = "status", .scalar = Scalar::object, .type = &kProbe},
};
inline constexpr Type kSample{.name = "Sample", .fields = kSampleFields};

// Parses JSON with single quotes instead of double quotes, which is easier to read.
inline json::value doc(std::string_view text) {
  std::string quoted(text);
  for (char& c : quoted)
    if (c == '\'') c = '"';
  return parse_json(quoted).value();
}

}  // namespace plim::local::apiserver::testing
