#include "sched/event_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/rfc3339.hpp"
#include "kube/status.hpp"

namespace plim::sched {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxQueuedBytes = 64u << 20;
// Events take capacity of the API server from bindings, which are more urgent. So only a few are
// written at a time, and more only if they are late.
constexpr std::size_t kWriters = 2, kMostWriters = 8;
// Events that exist once get more writers as they queue up, so that they are not slower than
// bindings. Each writer has its own connection, and a handshake costs more than two events.
constexpr std::size_t kOncePerWriter = 16, kMostOnceWriters = 8;
constexpr std::size_t kMostTogether = 16;  // requests sent at once on one connection
constexpr std::size_t kMaxName = 253;
constexpr Nanos kLate = 5s;
constexpr Nanos kSilence = 1s;
constexpr std::size_t kMaxNote = 1024;
constexpr int kEventTries = 12;
constexpr Nanos kSeriesRefresh = 30min;
constexpr Nanos kSeriesEnd = 6min;

const kube::Resource kEvents{
    .group = "events.k8s.io", .version = "v1", .plural = "events", .kind = "Event"};

// `name` is the name of the member and everything before it, including the brace or comma.
void append_member(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  append_json_string(out, value);
}

void append_reference(std::string& out, std::string_view name,
                      const kube::ObjectReference& reference) {
  out += name;
  append_member(out, R"({"apiVersion":)", reference.api_version);
  append_member(out, R"(,"kind":)", reference.kind);
  append_member(out, R"(,"name":)", reference.name);
  append_member(out, R"(,"uid":)", reference.uid);
  if (!reference.ns.empty()) append_member(out, R"(,"namespace":)", reference.ns);
  if (!reference.resource_version.empty())
    append_member(out, R"(,"resourceVersion":)", reference.resource_version);
  out += '}';
}

// Equal in every process and version (FNV-1a).
std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t out = 0xcbf29ce484222325;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return out;
}

// Has the shape of client-go's names: "<object>.<hex>", or a UUID if that is too long.
std::string event_name(const SchedulerEvent& event, WallTime now) {
  const std::uint64_t number = event.once
                                   ? stable_hash(event.regarding.uid)
                                   : static_cast<std::uint64_t>(now.time_since_epoch().count());
  std::string out = fmt::format("{}.{:x}", event.regarding.name, number);
  if (out.size() <= kMaxName) return out;
  return event.once ? event.regarding.uid : make_uuid();
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
      idle_(loop),
      tasks_(loop) {}

void EventWriter::start() {
  started_ = true;
  tasks_.spawn("event series", refresh_series());
}

Task<void> EventWriter::stop(Nanos grace) {
  // There are no bindings any more that more writers could delay.
  for (std::size_t more = queued(); more > 0 && writers_ < kMostWriters; --more) add_writer();
  const SteadyTime deadline = clock_.steady() + grace;
  SteadyTime patience = std::min(deadline, clock_.steady() + kSilence);
  std::uint64_t done = stats_.written + stats_.dropped;
  while ((queued() > 0 || writers_ > 0) && clock_.steady() < patience) {
    (void)co_await idle_.wait_until(clock_, patience);
    if (done == stats_.written + stats_.dropped) continue;
    done = stats_.written + stats_.dropped;
    patience = std::min(deadline, clock_.steady() + kSilence);
  }
  co_await tasks_.stop();
  stats_.dropped = stats_.recorded - stats_.written;
  if (const std::uint64_t lost = stats_.recorded - done; lost > 0)
    log::warn("scheduler", "events are lost", {{"count", lost}});
}

std::size_t EventWriter::writers_wanted() const {
  const bool late = !queue_.empty() && clock_.steady() - queue_.front().since > kLate;
  const std::size_t for_once = std::min(once_.size() / kOncePerWriter, kMostOnceWriters);
  return std::max(late ? kMostWriters : kWriters, for_once);
}

void EventWriter::add_writer() {
  ++writers_;
  tasks_.spawn("event writer", write_queued());
}

void EventWriter::push(Entry entry) {
  ++stats_.recorded;
  if (queued_bytes_ > kMaxQueuedBytes) {
    ++stats_.dropped;
    return;
  }
  entry.since = clock_.steady();
  queued_bytes_ += entry.body.size();
  (entry.once ? once_ : queue_).push_back(std::move(entry));
  if (started_ && writers_ < writers_wanted()) add_writer();
}

void EventWriter::record(SchedulerEvent event) {
  const WallTime now = event.at.value_or(clock_.wall());
  const std::string ns = event.regarding.ns.empty() ? "default" : event.regarding.ns;
  std::string name = event_name(event, now);
  if (event.warning) {
    // The key contains the note, since a series shows the note of its first event. It is hashed,
    // since notes can be long and are kept for minutes.
    const std::string key =
        fmt::format("{}/{}/{}/{}/{:x}", event.controller, event.reason, event.action,
                    event.regarding.uid, std::hash<std::string>{}(event.note));
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
  // Builds the JSON by hand, since there is one event for every placed pod.
  std::string body;
  body.reserve(1024);
  append_member(body, R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":)",
                name);
  append_member(body, R"(,"namespace":)", ns);
  append_member(body, R"(},"eventTime":)", format_rfc3339_micro(now));
  append_member(body, R"(,"reportingController":)", event.controller);
  append_member(body, R"(,"reportingInstance":)", fmt::format("{}-{}", event.controller, host_));
  append_member(body, R"(,"type":)", event.warning ? "Warning" : "Normal");
  append_member(body, R"(,"reason":)", event.reason);
  append_member(body, R"(,"action":)", event.action);
  append_member(body, R"(,"note":)", cut_note(std::move(event.note)));
  append_reference(body, R"(,"regarding":)", event.regarding);
  if (event.related) append_reference(body, R"(,"related":)", *event.related);
  body += '}';
  push({.ns = ns, .name = "", .body = std::move(body), .once = event.once});
}

void EventWriter::record_election(const kube::ObjectReference& lease, std::string_view controller,
                                  std::string_view message) {
  const WallTime now = clock_.wall();
  std::string body;
  append_member(body, R"({"apiVersion":"v1","kind":"Event","metadata":{"name":)",
                fmt::format("{}.{:x}", lease.name, now.time_since_epoch().count()));
  append_member(body, R"(,"namespace":)", lease.ns);
  append_reference(body, R"(},"involvedObject":)", lease);
  append_member(body, R"(,"type":"Normal","reason":"LeaderElection","message":)", message);
  append_member(body, R"(,"source":{"component":)", controller);
  append_member(body, R"(},"reportingComponent":)", controller);
  append_member(body, R"(,"count":1,"firstTimestamp":)", format_rfc3339(now));
  append_member(body, R"(,"lastTimestamp":)", format_rfc3339(now));
  body += '}';
  push({.ns = lease.ns, .name = "", .body = std::move(body), .is_core = true});
}

void EventWriter::push_series(Series& series) {
  series.written = series.count;
  push({.ns = series.ns,
        .name = series.name,
        .body = fmt::format(R"({{"series":{{"count":{},"lastObservedTime":"{}"}}}})", series.count,
                            format_rfc3339_micro(series.last))});
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
  while (queued() > 0) co_await write(take_batch());
  --writers_;
  idle_.notify();
}

std::vector<EventWriter::Entry> EventWriter::take_batch() {
  std::deque<Entry>& from = once_.empty() ? queue_ : once_;
  std::vector<Entry> batch;
  while (!from.empty() && batch.size() < kMostTogether) {
    queued_bytes_ -= from.front().body.size();
    batch.push_back(std::move(from.front()));
    from.pop_front();
  }
  return batch;
}

Task<void> EventWriter::write(std::vector<Entry> batch) {
  std::vector<Result<net::Response>> answers;
  if (batch.size() > 1) {
    std::vector<net::Request> requests;
    requests.reserve(batch.size());
    for (const Entry& entry : batch) requests.push_back(request_for(entry));
    answers = co_await client_->raw_pipelined(std::move(requests));
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i < answers.size() && !rejection(batch[i], answers[i]))
      ++stats_.written;
    else
      co_await insist(std::move(batch[i]));
  }
}

Task<void> EventWriter::insist(Entry entry) {
  const net::CallOptions options;
  for (int attempt = 1;; ++attempt) {
    net::Request request = request_for(entry);
    auto answer = co_await client_->raw(std::move(request), options);
    const std::optional<Error> error = rejection(entry, answer);
    if (!error) {
      ++stats_.written;
      co_return;
    }
    if (attempt == kEventTries || !is_retryable(error->code)) {
      ++stats_.dropped;
      if (error->code != Code::not_found)
        log::debug("scheduler", "an event is lost", {{"error", *error}});
      co_return;
    }
    co_await clock_.sleep(std::chrono::seconds(1));
  }
}

// A new event has a name and a patch sets what it writes, so it does no harm to send one again.
net::Request EventWriter::request_for(const Entry& entry) {
  const bool is_new = entry.name.empty();
  net::Request request{.method = is_new ? "POST" : "PATCH",
                       .path = kube::api_path(entry.is_core ? kube::resources::events : kEvents,
                                              {.ns = entry.ns, .name = entry.name}),
                       .query = "fieldManager=plimsoll",
                       .body = entry.body};
  request.headers.set("Accept", "application/json");
  request.headers.set("Content-Type",
                      is_new ? "application/json" : "application/strategic-merge-patch+json");
  return request;
}

std::optional<Error> EventWriter::rejection(const Entry& entry,
                                            const Result<net::Response>& answer) {
  if (!answer) return answer.error();
  if (answer->status / 100 == 2) return std::nullopt;
  Error error = kube::error_from_answer(answer->status, answer->headers, answer->body);
  // This process wrote it and lost the answer, or another one wrote it.
  if (entry.name.empty() && error.code == Code::already_exists) return std::nullopt;
  return error;
}

}  // namespace plim::sched
