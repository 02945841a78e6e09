#include "local/apiserver/api/events.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace plim::local::apiserver {
namespace {

struct Renamed {
  std::string_view core;
  std::string_view event;
};

// In the order of upstream's Event in events.k8s.io.
constexpr std::array kFields{
    Renamed{"metadata", "metadata"},
    Renamed{"eventTime", "eventTime"},
    Renamed{"series", "series"},
    Renamed{"reportingComponent", "reportingController"},
    Renamed{"reportingInstance", "reportingInstance"},
    Renamed{"action", "action"},
    Renamed{"reason", "reason"},
    Renamed{"involvedObject", "regarding"},
    Renamed{"related", "related"},
    Renamed{"message", "note"},
    Renamed{"type", "type"},
    Renamed{"source", "deprecatedSource"},
    Renamed{"firstTimestamp", "deprecatedFirstTimestamp"},
    Renamed{"lastTimestamp", "deprecatedLastTimestamp"},
    Renamed{"count", "deprecatedCount"},
};

json::value renamed(json::value from, std::string_view api_version, std::string_view Renamed::* old,
                    std::string_view Renamed::* now) {
  json::object& members = from.as_object();
  json::object out{{"kind", "Event"}, {"apiVersion", api_version}};
  for (const Renamed& field : kFields)
    if (json::value* found = members.if_contains(field.*old)) out[field.*now] = std::move(*found);
  return out;
}

}  // namespace

json::value event_from_core(json::value core) {
  return renamed(std::move(core), "events.k8s.io/v1", &Renamed::core, &Renamed::event);
}

json::value event_to_core(json::value event) {
  return renamed(std::move(event), "v1", &Renamed::event, &Renamed::core);
}

}  // namespace plim::local::apiserver
