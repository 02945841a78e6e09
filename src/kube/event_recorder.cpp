#include "kube/event_recorder.hpp"

#include "base/log.hpp"
#include "base/rfc3339.hpp"

namespace plim::kube {
namespace {

constexpr int kTries = 12;

json::value event_json(const EventNote& note, const EventSource& source, const std::string& ns,
                       const EventCorrelator::Decision& decision) {
  const ObjectReference& about = note.about;
  json::object involved{{"apiVersion", about.api_version},
                        {"kind", about.kind},
                        {"name", about.name},
                        {"uid", about.uid}};
  if (!about.ns.empty()) involved["namespace"] = about.ns;
  if (!about.resource_version.empty()) involved["resourceVersion"] = about.resource_version;
  if (!about.field_path.empty()) involved["fieldPath"] = about.field_path;
  json::object from{{"component", source.component}};
  if (!source.host.empty()) from["host"] = source.host;
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", {{"name", decision.name}, {"namespace", ns}}},
          {"involvedObject", std::move(involved)},
          {"reason", note.reason},
          {"message", decision.message},
          {"source", std::move(from)},
          {"firstTimestamp", format_rfc3339(decision.first)},
          {"lastTimestamp", format_rfc3339(decision.last)},
          {"count", decision.count},
          {"type", note.type == EventNote::Type::normal ? "Normal" : "Warning"},
          {"reportingComponent", source.component},
          {"reportingInstance", source.host}};
}

}  // namespace

EventRecorder::EventRecorder(const Executor& loop, std::shared_ptr<Client> client,
                             EventSource source, Clock& clock, std::size_t queue_size)
    : client_(std::move(client)),
      source_(std::move(source)),
      clock_(clock),
      queue_(loop, queue_size),
      settled_(loop),
      tasks_(loop) {}

void EventRecorder::start() {
  tasks_.spawn("event recorder", write_queued());
}

Task<void> EventRecorder::flush(Nanos at_most) {
  const SteadyTime deadline = clock_.steady() + at_most;
  while (unsettled_ > 0) {
    const bool woken = co_await settled_.wait_until(clock_, deadline);
    if (!woken) co_return;
  }
}

Task<void> EventRecorder::stop() {
  return tasks_.stop();
}

void EventRecorder::record(const EventNote& note) {
  auto decision = correlator_.observe(note, clock_.wall());
  if (!decision) {
    ++stats_.over_budget;
    return;
  }
  Entry entry;
  entry.ns = note.about.ns.empty() ? "default" : note.about.ns;  // of cluster-wide objects
  entry.name = decision->name;
  entry.repeated = decision->count > 1;
  entry.event = event_json(note, source_, entry.ns, *decision);
  if (queue_.try_push(std::move(entry)))
    ++unsettled_;
  else
    ++stats_.dropped;
}

Task<void> EventRecorder::write_queued() {
  for (;;) {
    std::optional<Entry> entry = co_await queue_.pop();
    if (!entry) co_return;
    Backoff backoff;
    for (int tried = 1;; ++tried) {
      auto written = co_await write(&*entry);
      if (written) {
        ++stats_.written;
        break;
      }
      if (!is_retryable(written.error().code) || tried == kTries) {
        ++stats_.dropped;
        log::warn("kube", "cannot write an event",
                  {{"event", entry->name}, {"error", written.error()}});
        break;
      }
      co_await clock_.sleep(backoff.next());
    }
    --unsettled_;
    settled_.notify();
  }
}

Task<Result<void>> EventRecorder::write(const Entry* entry) {
  ObjectPath path;
  path.ns = entry->ns;
  if (entry->repeated) {
    path.name = entry->name;
    json::object patch;
    for (const char* field : {"message", "count", "lastTimestamp"})
      patch[field] = entry->event.at(field);
    json::value body(std::move(patch));
    auto patched =
        co_await client_->patch(resources::events, path, PatchType::strategic, std::move(body));
    if (patched) co_return Result<void>();
    if (patched.error().code != Code::not_found) co_return std::move(patched).error();
    path.name.clear();  // the event has expired on the server: create it again
  }
  json::value event = entry->event;
  auto created = co_await client_->create(resources::events, path, std::move(event));
  // An earlier attempt created it, but its answer was lost.
  if (!created && created.error().code != Code::already_exists)
    co_return std::move(created).error();
  co_return Result<void>();
}

}  // namespace plim::kube
