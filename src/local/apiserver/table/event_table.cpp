// Events of both groups, which use different names for the same fields.
#include <fmt/format.h>

#include "base/text.hpp"
#include "local/apiserver/table/cells.hpp"
#include "local/apiserver/table/views.hpp"

namespace plim::local::apiserver {
namespace {

using namespace cells;

constexpr TableColumn kEventColumns[] = {
    {.name = "Last Seen", .description = "Time since it happened last"},
    {.name = "Type", .description = "Normal or Warning"},
    {.name = "Reason", .description = "Why it was recorded, in one word"},
    {.name = "Object", .description = "Kind and name of what it is about"},
    {.name = "Subobject", .description = "Part of the object it is about", .priority = 1},
    {.name = "Source", .description = "Who recorded it", .priority = 1},
    {.name = "Message", .description = "What happened"},
    {.name = "First Seen", .description = "Time since it happened first", .priority = 1},
    {.name = "Count", .description = "How often it happened", .priority = 1},
    {.name = "Name", .format = "name", .description = "Name of the event", .priority = 1},
};

// The first of both paths with a text.
std::string either(const json::value& event, kube::TextPath core, kube::TextPath newer) {
  return text(event, core, kube::text_at(event, newer));
}

std::string object_name(const json::value& event) {
  const std::string kind =
      to_lower(either(event, "CoreEvent.involvedObject.kind", "EventsEvent.regarding.kind"));
  const std::string object =
      either(event, "CoreEvent.involvedObject.name", "EventsEvent.regarding.name");
  return object.empty() ? kind : kind + "/" + object;
}

std::string source(const json::value& event) {
  std::string component =
      either(event, "CoreEvent.source.component", "EventsEvent.deprecatedSource.component");
  if (component.empty())
    component = either(event, "CoreEvent.reportingComponent", "EventsEvent.reportingController");
  std::string host = either(event, "CoreEvent.source.host", "EventsEvent.deprecatedSource.host");
  if (host.empty()) host = text(event, "CoreEvent.reportingInstance");
  return host.empty() ? component : component + ", " + host;
}

json::array event_cells(const json::value& event, WallTime now) {
  std::string first =
      either(event, "CoreEvent.firstTimestamp", "EventsEvent.deprecatedFirstTimestamp");
  if (first.empty()) first = text(event, "CoreEvent.eventTime");
  std::string last =
      either(event, "CoreEvent.lastTimestamp", "EventsEvent.deprecatedLastTimestamp");
  if (last.empty()) last = first;
  std::int64_t count =
      number(event, "CoreEvent.count", number(event, "EventsEvent.deprecatedCount"));
  if (kube::find(event, "CoreEvent.series")) {
    last = text(event, "CoreEvent.series.lastObservedTime");
    count = number(event, "CoreEvent.series.count");
  } else if (count == 0) {
    count = 1;
  }
  const std::string message = either(event, "CoreEvent.message", "EventsEvent.note");
  return {human_age(last, now),
          text(event, "CoreEvent.type"),
          text(event, "CoreEvent.reason"),
          object_name(event),
          either(event, "CoreEvent.involvedObject.fieldPath", "EventsEvent.regarding.fieldPath"),
          source(event),
          trim(message),
          human_age(first, now),
          count,
          name(event)};
}

}  // namespace

const TableView kEventView{.columns = kEventColumns, .cells = event_cells};

}  // namespace plim::local::apiserver
