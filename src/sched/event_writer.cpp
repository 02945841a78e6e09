#include "sched/event_writer.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxQueuedBytes = 64u << 20;
constexpr std::size_t kWriters = 8;
constexpr std::size_t kMaxNote = 1024;
constexpr int kEventTries = 12;
constexpr Nanos kSeriesRefresh = 30min;
constexpr Nanos kSeriesEnd = 6min;

const kube::Resource kEvents{
    .group = "events.k8s.io", .version = "v1", .plural = "events", .kind = "Event"};

json::object reference_json(const kube::ObjectReference& reference) {
  json::object out{{"apiVersion", reference.api_version},
                   {"kind", reference.kind},
                   {"name", reference.name},
                   {"uid", reference.uid}};
  if (!reference.ns.empty()) out["namespace"] = reference.ns;
  if (!reference.resource_version.empty()) out["resourceVersion"] = reference.resource_version;
  return out;
}

std::string micro_time(WallTime time) {
  const auto micros = std::chrono::floor<std::chrono::microseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(micros);
  std::string out = format_rfc3339(WallTime(seconds));
  out.pop_back();  // the Z
  return fmt::format("{}.{:06}Z", out, (micros - seconds).count());
}

std::string cut_note(std::string note) {
  if (note.size() <= kMaxNote) return note;
  note.resize(kMaxNote - 4);
  while (!note.empty() && (static_cast<unsigned char>(note.back()) & 0xC0) == 0x80) note.pop_back();
  return note + " ...";
}

}  // namespace

EventWriter::EventWriter(const Executor& loop, std::shared_ptr<kube::Client> client,
                         std::string host, Clock& clock)
    : client_(std::move(client)),
      host_(std::move(host)),
      clock_(clock),
      changed_(loop),
      tasks_(loop) {}

void EventWriter::start() {
  for (std::size_t index = 0; index < kWriters; ++index)
    tasks_.spawn("event writer", write_queued());
  tasks_.spawn("event series", refresh_series());
}

Task<void> EventWriter::stop(Nanos grace) {
  const SteadyTime deadline = clock_.steady() + grace;
  while ((!queue_.empty() || writing_ > 0) && clock_.steady() < deadline)
    (void)co_await changed_.wait_until(clock_, deadline);
  co_await tasks_.stop();
}

void EventWriter::push(Entry entry) {
  if (queued_bytes_ > kMaxQueuedBytes) {
    ++stats_.dropped;
    return;
  }
  queued_bytes_ += entry.bytes;
  queue_.push_back(std::move(entry));
  changed_.notify();
}

void EventWriter::record(SchedulerEvent event) {
  const WallTime now = clock_.wall();
  const std::string ns = event.regarding.ns.empty() ? "default" : event.regarding.ns;
  std::string name = fmt::format("{}.{:x}", event.regarding.name, now.time_since_epoch().count());
  if (event.warning) {
    const std::string key = fmt::format("{}/{}/{}/{}", event.controller, event.reason, event.action,
                                        event.regarding.uid);
    auto [found, fresh] = series_.try_emplace(key);
    Series& series = found->second;
    if (!fresh && now - series.last < kSeriesEnd) {
      ++series.count;
      series.last = now;
      if (series.count == 2) push_series(series);
      return;
    }
    series = {.ns = ns, .name = name, .count = 1, .written = 1, .last = now};
  }
  std::string note = cut_note(std::move(event.note));
  const std::size_t bytes = 600 + note.size();
  json::object body{{"apiVersion", "events.k8s.io/v1"},
                    {"kind", "Event"},
                    {"metadata", {{"name", name}, {"namespace", ns}}},
                    {"eventTime", micro_time(now)},
                    {"reportingController", event.controller},
                    {"reportingInstance", fmt::format("{}-{}", event.controller, host_)},
                    {"type", event.warning ? "Warning" : "Normal"},
                    {"reason", event.reason},
                    {"action", event.action},
                    {"note", std::move(note)},
                    {"regarding", reference_json(event.regarding)}};
  if (event.related) body["related"] = reference_json(*event.related);
  push({.ns = ns, .name = "", .body = std::move(body), .bytes = bytes});
}

void EventWriter::push_series(Series& series) {
  series.written = series.count;
  json::value patch = json::object{
      {"series", {{"count", series.count}, {"lastObservedTime", micro_time(series.last)}}}};
  push({.ns = series.ns, .name = series.name, .body = std::move(patch), .bytes = 300});
}

Task<void> EventWriter::refresh_series() {
  SteadyTime next_refresh = clock_.steady() + kSeriesRefresh;
  for (;;) {
    co_await clock_.sleep(1min);
    const bool refresh = clock_.steady() >= next_refresh;
    if (refresh) next_refresh = clock_.steady() + kSeriesRefresh;
    for (auto at = series_.begin(); at != series_.end();) {
      Series& series = at->second;
      const bool over = clock_.wall() - series.last >= kSeriesEnd;
      if ((over || refresh) && series.count > series.written) push_series(series);
      at = over ? series_.erase(at) : std::next(at);
    }
  }
}

Task<void> EventWriter::write_queued() {
  for (;;) {
    while (queue_.empty()) co_await changed_.wait();
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= entry.bytes;
    ++writing_;
    for (int attempt = 1;; ++attempt) {
      kube::ObjectPath path{.ns = entry.ns, .name = entry.name};
      json::value body = entry.body;
      Result<json::value> written = fail(Code::unknown, "");
      if (entry.name.empty())
        written = co_await client_->create(kEvents, path, std::move(body));
      else
        written =
            co_await client_->patch(kEvents, path, kube::PatchType::strategic, std::move(body));
      if (written) {
        ++stats_.written;
        break;
      }
      if (attempt == kEventTries || !is_retryable(written.error().code)) {
        ++stats_.dropped;
        if (written.error().code != Code::not_found)
          log::debug("scheduler", "an event is lost", {{"error", written.error()}});
        break;
      }
      co_await clock_.sleep(std::chrono::seconds(1));
    }
    --writing_;
    changed_.notify();
  }
}

}  // namespace plim::sched
