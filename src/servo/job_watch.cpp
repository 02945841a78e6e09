#include "servo/job_watch.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"

namespace plim::servo {
namespace {

kube::ReflectorOptions options_for(const std::string& ns) {
  kube::ReflectorOptions out;
  out.ns = ns;
  out.watch_list = false;
  out.backoff = {
      .first = std::chrono::seconds(1), .limit = std::chrono::seconds(30), .jitter = 0.2};
  return out;
}

std::string pack(const std::optional<loop::RunRecord>& run) {
  std::string out = run ? to_json(loop::run_to_json(*run)) : std::string();
  out.shrink_to_fit();  // kept as long as the pod exists
  return out;
}

std::optional<loop::RunRecord> unpack(std::string_view text) {
  auto value = parse_json(text);
  if (!value) return {};
  auto run = loop::run_from_json(*value);
  if (!run) return {};
  return std::move(*run);
}

}  // namespace

JobWatch::JobWatch(const Executor& loop, std::shared_ptr<kube::Client> client, std::string ns,
                   const JobRules& rules, Metrics& metrics, OnEnd on_end, Clock& clock,
                   Random& random)
    : ns_(std::move(ns)),
      rules_(rules),
      metrics_(metrics),
      on_end_(std::move(on_end)),
      clock_(clock),
      reflector_(std::move(client), kube::resources::pods, options_for(ns_), *this, clock, random),
      tasks_(loop) {}

void JobWatch::start() {
  tasks_.spawn("job watch", reflector_.run());
}

Task<void> JobWatch::stop() {
  return tasks_.stop();
}

std::string JobWatch::not_ready() const {
  const std::optional<Error>& trouble = stats().trouble;
  const bool is_refused =
      trouble && (trouble->code == Code::forbidden || trouble->code == Code::unauthorized);
  if (synced_ && !is_refused) return {};
  return fmt::format(
      "pods of {} are not {}{}{}", ns_.empty() ? "all namespaces" : "namespace " + ns_,
      synced_ ? "watched" : "listed yet", trouble ? ": " : "", trouble ? trouble->message : "");
}

void JobWatch::begin_replace() {
  ++listing_;
}

Result<kube::ListMeta> JobWatch::add_page(kube::JsonText list) {
  return kube::decode_list(list, [this](kube::JsonText item) -> Result<void> {
    look(item, Seen::present, Look::listed);
    return {};
  });
}

Result<void> JobWatch::apply(kube::WatchEvent::Type type, kube::JsonText object) {
  using Type = kube::WatchEvent::Type;
  look(object, type == Type::deleted ? Seen::deleted : Seen::present,
       type == Type::added ? Look::first : Look::again);
  return {};
}

// Another event of the pod follows, its deletion at the latest. Listing again would miss pods that
// are created and deleted meanwhile.
Result<void> JobWatch::cannot_read(Error error) {
  leave_out(error.message);
  return {};
}

void JobWatch::end_replace() {
  std::vector<loop::RunRecord> vanished;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    if (at->second.listing == listing_) {
      ++at;
      continue;
    }
    if (auto open = unpack(at->second.open)) vanished.push_back(std::move(*open));
    at = jobs_.erase(at);
  }
  for (loop::RunRecord& run : vanished) {
    run.observed = clock_.wall();
    on_end_(std::move(run));
  }
  synced_ = true;
}

// Pods exist long after their end, and are changed and listed again without news for the servo. To
// decode only the metadata costs a tenth of decoding the pod.
bool JobWatch::is_known_to_be_over(kube::JsonText object, Seen seen) {
  auto meta = kube::decode_meta(object, names_);
  if (!meta) return false;  // the caller decodes the whole pod and reports the error
  const auto known = jobs_.find(meta->uid);
  if (known == jobs_.end() || !known->second.is_over) return false;
  known->second.listing = listing_;
  if (seen == Seen::deleted) jobs_.erase(known);
  return true;
}

// Counts and skips an object that cannot be decoded: with an error the reflector would list all
// pods again, without end.
void JobWatch::leave_out(std::string_view error) {
  metrics_.undecodable.add();
  log::debug("servo", "skipped a pod that cannot be decoded", {{"error", error}});
}

void JobWatch::look(kube::JsonText object, Seen seen, Look which) {
  if (which != Look::first && !jobs_.empty() && is_known_to_be_over(object, seen)) return;
  auto pod = parse_json(object.view());
  if (!pod || kube::uid_of(*pod).empty()) {
    leave_out(pod ? "it has no uid" : pod.error().message);
    return;
  }
  Sighting sighting = look_at(*pod, rules_, seen, clock_.wall());
  const std::string uid(kube::uid_of(*pod));
  if (!sighting.is_job) {
    if (which != Look::again && !sighting.miss.empty()) metrics_.count_miss(sighting.miss);
    jobs_.erase(uid);
    return;
  }
  for (loop::RunRecord& run : sighting.ended) on_end_(std::move(run));
  if (seen == Seen::present) {
    const bool is_over =
        !sighting.open && kube::text_at(*pod, "Pod.spec.restartPolicy") != "Always";
    jobs_[uid] = Job{.open = pack(sighting.open), .listing = listing_, .is_over = is_over};
    return;
  }
  // The deleted object may be older than the last one: a run that has ended is not reported again.
  const auto known = jobs_.find(uid);
  const bool had_ended = known != jobs_.end() && known->second.open.empty();
  if (sighting.open && !had_ended) on_end_(std::move(*sighting.open));
  if (known != jobs_.end()) jobs_.erase(known);
}

}  // namespace plim::servo
