#include "kube/leader_election.hpp"

#include "base/rfc3339.hpp"
#include "kube/paths.hpp"

namespace plim::kube {
namespace {

// The longest wait is 1.2 times the period, like client-go's JitterFactor.
constexpr double kJitter = 1.2;

std::string holder_of(const json::value& lease) {
  return std::string(text_at(lease, "Lease.spec.holderIdentity"));
}

}  // namespace

LeaderElector::LeaderElector(const Executor& loop, std::shared_ptr<Client> client,
                             ElectionOptions options, Callbacks callbacks, Clock& clock,
                             Random& random)
    : client_(std::move(client)),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      clock_(clock),
      random_(random),
      tasks_(loop) {
  PLIM_ASSERT(!options_.identity.empty());
  PLIM_ASSERT(options_.lease_duration > options_.renew_deadline);
  PLIM_ASSERT(options_.renew_deadline > options_.retry_period);
}

void LeaderElector::start() {
  tasks_.spawn("leader election", contend());
  tasks_.spawn("leader guard", guard());
}

bool LeaderElector::is_leader() const {
  return leading_ && clock_.steady() < renewed_ + options_.renew_deadline;
}

bool LeaderElector::is_overdue(Nanos by) const {
  return leading_ && clock_.steady() > renewed_ + options_.lease_duration + by;
}

std::string LeaderElector::lease_uid() const {
  return std::string(text_at(lease_, "Lease.metadata.uid"));
}

Task<void> LeaderElector::contend() {
  for (;;) {
    SteadyTime sent = clock_.steady();
    bool ours = co_await acquire_or_renew();
    // After a renewal that took too long, others still see a valid lease, but we must not lead.
    if (ours && clock_.steady() < sent + options_.renew_deadline) {
      renewed_ = sent;
      if (!leading_) {
        leading_ = true;
        log::info("kube", "leading", {{"lease", options_.name}, {"identity", options_.identity}});
        if (callbacks_.on_started) callbacks_.on_started();
      }
    }
    auto period = std::chrono::duration_cast<Nanos>(options_.retry_period);
    if (!leading_)
      period += Nanos(static_cast<Nanos::rep>(static_cast<double>(period.count()) * (kJitter - 1) *
                                              random_.unit()));
    co_await clock_.sleep(period);
  }
}

// Ends the leadership on time even if a renewal hangs.
Task<void> LeaderElector::guard() {
  for (;;) {
    SteadyTime deadline = clock_.steady() + options_.retry_period;
    if (leading_) deadline = renewed_ + options_.renew_deadline;
    co_await clock_.sleep_until(deadline);
    if (leading_ && !is_leader()) {
      log::warn("kube", "lost the lease", {{"lease", options_.name}});
      stop_leading();
    }
  }
}

void LeaderElector::stop_leading() {
  if (!leading_) return;
  leading_ = false;
  if (callbacks_.on_stopped) callbacks_.on_stopped();
}

Task<bool> LeaderElector::acquire_or_renew() {
  ObjectPath path;
  path.ns = options_.ns;
  path.name = options_.name;
  auto found = co_await client_->get(resources::leases, path);
  bool missing = !found && found.error().code == Code::not_found;
  if (!found && !missing) {
    log_.write(log::Level::warn, "kube", "cannot read the lease",
               {{"lease", options_.name}, {"error", found.error()}});
    co_return false;
  }
  json::value lease;
  if (missing) {
    lease = {{"apiVersion", "coordination.k8s.io/v1"},
             {"kind", "Lease"},
             {"metadata", {{"name", options_.name}, {"namespace", options_.ns}}}};
    lease_ = nullptr;
  } else {
    observe(std::move(*found));
    std::string holder = holder_of(lease_);
    auto duration = std::chrono::seconds(int_at(lease_, "Lease.spec.leaseDurationSeconds")
                                             .value_or(options_.lease_duration.count()));
    bool valid = clock_.steady() < observed_ + duration;
    if (!holder.empty() && holder != options_.identity && valid) co_return false;
    lease = lease_;
  }
  lease.as_object()["spec"] = make_spec(clock_.wall());
  auto written = co_await write(std::move(lease), missing);
  if (!written)
    log_.write(log::Level::warn, "kube", "cannot write the lease",
               {{"lease", options_.name}, {"error", written.error()}});
  co_return written.has_value();
}

// The server rejects it with Code::conflict if another candidate was faster.
Task<Result<void>> LeaderElector::write(json::value lease, bool create) {
  ObjectPath path;
  path.ns = options_.ns;
  path.name = options_.name;
  Result<json::value> written = fail(Code::unknown, "");
  if (create) {
    path.name.clear();
    written = co_await client_->create(resources::leases, path, std::move(lease));
  } else {
    written = co_await client_->update(resources::leases, path, std::move(lease));
  }
  if (!written) co_return std::move(written).error();
  observe(std::move(*written));
  co_return Result<void>();
}

void LeaderElector::observe(json::value lease) {
  const json::value* before = find(lease_, "Lease.spec");
  const json::value* now = find(lease, "Lease.spec");
  if (!before || !now || *before != *now) observed_ = clock_.steady();
  lease_ = std::move(lease);
  std::string holder = holder_of(lease_);
  if (holder == leader_) return;
  leader_ = holder;
  if (!holder.empty() && callbacks_.on_new_leader) callbacks_.on_new_leader(holder);
}

json::value LeaderElector::make_spec(WallTime now) const {
  bool ours = holder_of(lease_) == options_.identity;
  auto transitions = int_at(lease_, "Lease.spec.leaseTransitions").value_or(0);
  std::string time = format_rfc3339_micro(now);
  std::string acquired = ours ? std::string(text_at(lease_, "Lease.spec.acquireTime")) : time;
  if (!ours && find(lease_, "Lease.spec")) ++transitions;
  return {{"holderIdentity", options_.identity},
          {"leaseDurationSeconds", options_.lease_duration.count()},
          {"acquireTime", acquired},
          {"renewTime", time},
          {"leaseTransitions", transitions}};
}

Task<void> LeaderElector::stop() {
  co_await tasks_.stop();
  bool ours = leading_ && holder_of(lease_) == options_.identity;
  stop_leading();
  if (!ours) co_return;
  json::value lease = lease_;
  std::string time = format_rfc3339_micro(clock_.wall());
  json::object& spec = make_object(lease, "Lease.spec");
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["renewTime"] = time;
  spec["acquireTime"] = time;
  // If this fails, the lease expires by itself.
  auto written = co_await write(std::move(lease), false);
  if (!written)
    log::info("kube", "cannot release the lease",
              {{"lease", options_.name}, {"error", written.error()}});
}

}  // namespace plim::kube
