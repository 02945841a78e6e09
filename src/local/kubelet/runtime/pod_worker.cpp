#include "local/kubelet/runtime/pod_worker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "kube/object.hpp"
#include "local/kubelet/nodes/pod_limits.hpp"
#include "local/kubelet/runtime/pod_admission.hpp"
#include "local/kubelet/runtime/pod_plan.hpp"
#include "local/kubelet/runtime/pod_status.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;
using Type = kube::EventNote::Type;

namespace {

constexpr auto kVolumesEvery = 60s;
constexpr auto kTokensEvery = 8min;  // the shortest life of a token is ten

}  // namespace

PodWorker::PodWorker(PodContext& node, json::value pod)
    : node_(node),
      pod_(std::move(pod)),
      uid_(kube::uid_of(pod_)),
      files_(node.pod_directory(uid_)),
      shim_(files_.directory(), node.options.shim),
      changed_(node.loop),
      tasks_(node.loop) {
  facts_.host_ip = node_.addresses.node();
  facts_.init = init_containers_of(pod_);
  facts_.containers = containers_of(pod_);
  deleting_ = kube::is_being_deleted(pod_);
}

void PodWorker::start() {
  tasks_.spawn("pod " + full_name(), supervise());
}

void PodWorker::update(json::value pod) {
  pod_ = std::move(pod);
  deleting_ |= kube::is_being_deleted(pod_);
  changed();
}

void PodWorker::vanish() {
  vanished_ = true;
  changed();
}

void PodWorker::end_for_shutdown(Shutdown kind) {
  shutdown_ = kind;
  changed();
}

Task<void> PodWorker::stop() {
  return tasks_.stop();
}

Task<void> PodWorker::wait_ended() {
  while (!ended_) co_await changed_.wait();
}

void PodWorker::changed() {
  ++changes_;
  changed_.notify();
}

bool PodWorker::has_to_end() const {
  return finished_ || vanished_ || deleting_ || shutdown_ || node_.clock.steady() >= deadline();
}

bool PodWorker::comes_back() const {
  return shutdown_ == Shutdown::until_restart && !finished_ && !vanished_ && !deleting_ &&
         !rejected_;
}

SteadyTime PodWorker::deadline() const {
  const auto seconds = int_at(pod_, {"spec", "activeDeadlineSeconds"});
  if (!seconds || !began_) return SteadyTime::max();
  return *began_ + std::chrono::seconds(*seconds);
}

void PodWorker::begin_at(WallTime time) {
  facts_.start_time = time;
  const Nanos passed = std::max(Nanos::zero(), node_.clock.wall() - time);
  began_ = node_.clock.steady() - passed;
}

Task<void> PodWorker::supervise() {
  if (kubelet::is_active(pod_)) {
    const Left left = co_await adopt();
    live_running_ = true;
    TaskGroup::Handle life = tasks_.spawn("life of pod " + full_name(), live(left));
    while (live_running_ && !has_to_end()) {
      const SteadyTime until = deadline();
      if (until == SteadyTime::max()) {
        co_await changed_.wait();
      } else {
        co_await changed_.wait_until(node_.clock, until);
      }
    }
    life.cancel();
    while (live_running_) co_await changed_.wait();
    if (!finished_ && !vanished_ && !deleting_) {
      if (shutdown_ == Shutdown::for_good) {
        facts_.failure = {"Terminated",
                          "Pod was terminated in response to imminent node shutdown."};
      } else if (!shutdown_ && !rejected_) {
        facts_.failure = {"DeadlineExceeded",
                          "Pod was active on the node longer than the specified deadline"};
        event(Type::warning, "DeadlineExceeded", facts_.failure->message);
      }
    }
    // Sidecars may take their time: the ends of the others are shown before theirs.
    if (finished_ && phase_of(restart_policy_of(pod_), facts_) == "Running")
      co_await write_status();
    if (!rejected_) co_await end_containers();
    const bool is_away = comes_back();
    co_await clean_up();
    if (is_away) {
      // As a machine that is switched off: the API hears of it when it is on again.
      ended_ = true;
      changed();
      co_return;
    }
    node_.devices.release(uid_);
    facts_.ended = true;
    facts_.ready_to_start = false;
    if (node_.options.annotate_runs && !vanished_) co_await annotate_runs();
    if (!rejected_ && !vanished_) co_await write_status();
  } else {
    restore_from_status();
    co_await clean_up();
    node_.devices.release(uid_);
  }
  ended_ = true;
  node_.freed.notify();
  changed();
  while (!vanished_ && !deleting_) co_await changed_.wait();
  while (!vanished_) {
    co_await delete_object();
    const SteadyTime again = node_.clock.steady() + 10s;
    if (!vanished_) co_await changed_.wait_until(node_.clock, again);
  }
  files_.remove_everything();
  node_.gone(uid_);
}

Task<void> PodWorker::live(Left left) {
  struct Leaving {
    PodWorker& worker;

    ~Leaving() {
      worker.live_running_ = false;
      worker.changed();
    }
  };

  Leaving leaving{*this};
  if (left == Left::nothing) {
    const bool taken = co_await admit();
    if (!taken) co_return;
  }
  const bool is_over = plan_pod(restart_policy_of(pod_), facts_).finished;
  if (left != Left::processes && !is_over) {
    if (left == Left::records)
      event(Type::normal, "SandboxChanged",
            "Pod sandbox changed, it will be killed and re-created.");
    co_await write_status();
    co_await prepare();
  }
  facts_.ready_to_start = true;
  for (;;) {
    const std::uint64_t seen = changes_;
    const PodPlan plan = plan_pod(restart_policy_of(pod_), facts_);
    if (plan.finished) {  // a final phase is told when nothing of the pod is left, by supervise()
      finished_ = true;
      co_return;
    }
    co_await write_status();
    if (node_.clock.steady() >= volumes_again_) {
      auto filled = co_await fill_volumes();
      if (!filled) event(Type::warning, "FailedMount", filled.error().message);
    }
    SteadyTime wake = volumes_again_;
    for (const std::string& name : plan.start) {
      const SteadyTime next = co_await try_start(name);
      wake = std::min(wake, next);
    }
    co_await write_status();
    if (changes_ != seen) continue;
    if (wake == SteadyTime::max()) {
      co_await changed_.wait();
    } else {
      co_await changed_.wait_until(node_.clock, wake);
    }
  }
}

Task<bool> PodWorker::admit() {
  bool again = node_.leaving();  // looked at first: it may have left when we are refused
  auto failure = co_await why_refused();
  while (failure && again) {
    again = node_.leaving();
    if (again) co_await node_.freed.wait();
    failure = co_await why_refused();
  }
  if (!failure) {
    accepted_ = true;
    begin_at(node_.clock.wall());
    co_return true;
  }
  rejected_ = true;
  event(Type::warning, failure->reason, failure->message);
  const json::value status = make_rejected_status(pod_, *failure, node_.clock.wall());
  while (!vanished_) {
    const bool done = co_await write_once(status);
    if (done) break;
    co_await node_.clock.sleep(100ms);
  }
  co_return false;
}

Task<std::optional<PodFailure>> PodWorker::why_refused() {
  auto failure = refuse_pod(pod_, node_.node(), node_.others(uid_));
  if (failure) co_return failure;
  auto devices = co_await node_.devices.allocate(pod_);
  if (devices) co_return std::nullopt;
  co_return PodFailure{
      "UnexpectedAdmissionError",
      fmt::format("Allocate failed due to {}, which is unexpected", devices.error().message)};
}

Task<bool> PodWorker::prepare() {
  Nanos wait = 500ms;
  for (;;) {
    auto made = co_await make_sandbox();
    if (made) co_return true;
    const bool mount = made.error().message.starts_with("MountVolume");
    event(Type::warning, mount ? "FailedMount" : "FailedCreatePodSandBox",
          mount ? made.error().message : "Failed to create pod sandbox: " + made.error().message);
    co_await node_.clock.sleep(wait);
    wait = std::min<Nanos>(wait * 2, 2min);
  }
}

Task<Result<void>> PodWorker::make_sandbox() {
  PLIM_CO_CHECK(files_.make());
  if (facts_.pod_ip.empty()) {
    facts_.pod_ip =
        bool_at(pod_, {"spec", "hostNetwork"}) ? node_.addresses.node() : node_.addresses.take();
    if (facts_.pod_ip.empty()) co_return fail(Code::unavailable, "no address is free");
  }
  PLIM_CO_CHECK(files_.write_note({pod_, facts_.pod_ip, *facts_.start_time}));
  PLIM_CO_CHECK(node_.cgroups.make_pod(pod_));
  PLIM_CO_CHECK(co_await fill_volumes());
  PLIM_CO_CHECK(co_await make_api_access());
  co_return co_await open_shim();
}

// Again and again while the pod runs: ConfigMaps change and tokens expire.
Task<Result<void>> PodWorker::fill_volumes() {
  SourceNeeds needs = volume_needs(pod_);
  const SteadyTime now = node_.clock.steady();
  const bool keep_tokens = !volume_sources_.tokens.empty() && now < tokens_until_;
  const bool has_files = !needs.config_maps.empty() || !needs.secrets.empty();
  volumes_again_ = has_files || !needs.tokens.empty() ? now + kVolumesEvery : SteadyTime::max();
  if (keep_tokens) {
    needs.tokens.clear();
  } else {
    tokens_until_ = now + kTokensEvery;
  }
  PLIM_CO_TRY(PodSources fresh, co_await fetch_sources(node_.client, pod_, std::move(needs)));
  if (keep_tokens) fresh.tokens = volume_sources_.tokens;
  // Made by a controller in time; until then we know it ourselves.
  if (!node_.options.api_ca_pem.empty())
    fresh.config_maps.try_emplace(
        "kube-root-ca.crt",
        json::object{{"data", json::object{{"ca.crt", node_.options.api_ca_pem}}}});
  volume_sources_ = std::move(fresh);
  co_return make_volumes(pod_, node_.place(facts_.pod_ip), volume_sources_,
                         node_.volume_roots(uid_));
}

Task<void> PodWorker::clean_up() {
  for (auto& [name, container] : containers_) stop_probes(name);
  shim_open_ = false;
  auto quit = co_await shim_.quit();
  if (!quit)
    log::warn("node", "cannot end a pod's shim", {{"pod", full_name()}, {"error", quit.error()}});
  co_await remove_cgroup(&node_.cgroups, pod_);
  if (facts_.pod_ip != node_.addresses.node()) node_.addresses.release(facts_.pod_ip);
  remove_volumes(pod_);
}

// Only the kubelet takes a pod off the API for good, when nothing of it runs any more.
Task<void> PodWorker::delete_object() {
  kube::ObjectPath path{std::string(kube::namespace_of(pod_)), std::string(kube::name_of(pod_))};
  kube::DeleteOptions options;
  options.grace_seconds = 0;
  options.uid = uid_;
  auto done =
      co_await node_.client->remove(kube::resources::pods, std::move(path), std::move(options));
  if (!done && done.error().code != Code::not_found && done.error().code != Code::conflict)
    log::warn("node", "cannot delete a pod", {{"pod", full_name()}, {"error", done.error()}});
}

// {"c":[[started, finished],…]} in nanoseconds since the epoch, for those who measure.
Task<void> PodWorker::annotate_runs() {
  json::object times;
  for (const ContainerRun& run : runs_) {
    json::value& list = times[run.container];
    if (!list.is_array()) list = json::array();
    list.as_array().push_back({run.started_wall.time_since_epoch().count(),
                               run.finished_wall.time_since_epoch().count()});
  }
  json::object annotations{{"plimsoll.io/run-ns", to_json(times)}};
  json::object patch{
      {"metadata", json::object{{"uid", uid_}, {"annotations", std::move(annotations)}}}};
  kube::ObjectPath path{std::string(kube::namespace_of(pod_)), std::string(kube::name_of(pod_))};
  auto answer = co_await node_.client->patch(kube::resources::pods, std::move(path),
                                             kube::PatchType::merge, std::move(patch));
  if (answer) update(std::move(*answer));
}

Task<void> PodWorker::write_status() {
  for (Nanos wait = 100ms; !vanished_; wait = std::min<Nanos>(wait * 2, 30s)) {
    json::value status = make_pod_status(pod_, facts_, node_.clock.wall());
    const bool done = co_await write_once(std::move(status));
    if (done) co_return;
    co_await node_.clock.sleep(wait);
  }
}

// False: to be made and tried again.
Task<bool> PodWorker::write_once(json::value status) {
  const json::value* now = find(pod_, {"status"});
  const bool same =
      now != nullptr && now->is_object() &&
      std::all_of(status.as_object().begin(), status.as_object().end(), [&](const auto& member) {
        const json::value* old = now->as_object().if_contains(member.key());
        return old != nullptr && *old == member.value();
      });
  if (same) co_return true;
  json::object patch{
      {"metadata",
       json::object{{"uid", uid_}, {"resourceVersion", kube::resource_version_of(pod_)}}},
      {"status", std::move(status)}};
  kube::ObjectPath path{std::string(kube::namespace_of(pod_)), std::string(kube::name_of(pod_)),
                        "status"};
  kube::ObjectPath object{path.ns, path.name};
  auto answer = co_await node_.client->patch(kube::resources::pods, std::move(path),
                                             kube::PatchType::merge, std::move(patch));
  if (answer) {
    pod_ = std::move(*answer);
    deleting_ |= kube::is_being_deleted(pod_);
    co_return true;
  }
  if (answer.error().code == Code::not_found) co_return true;  // vanish() is on its way
  if (answer.error().code == Code::conflict) {
    auto fresh = co_await node_.client->get(kube::resources::pods, std::move(object));
    if (!fresh || kube::uid_of(*fresh) != uid_)
      co_return !fresh ? fresh.error().code == Code::not_found : true;
    update(std::move(*fresh));
    co_return false;
  }
  log::warn("node", "cannot write a pod's status",
            {{"pod", full_name()}, {"error", answer.error()}});
  co_return false;
}

void PodWorker::event(Type type, std::string_view reason, std::string message,
                      std::string_view container) {
  kube::EventNote note;
  note.about = {.api_version = "v1",
                .kind = "Pod",
                .ns = std::string(kube::namespace_of(pod_)),
                .name = std::string(kube::name_of(pod_)),
                .uid = uid_,
                .resource_version = std::string(kube::resource_version_of(pod_))};
  if (!container.empty())
    note.about.field_path = fmt::format(
        "spec.{}{{{}}}", is_init(container) ? "initContainers" : "containers", container);
  note.type = type;
  note.reason = reason;
  note.message = std::move(message);
  node_.events.record(note);
}

ContainerFacts* PodWorker::find_facts(std::string_view name) {
  for (auto* list : {&facts_.init, &facts_.containers})
    for (ContainerFacts& facts : *list)
      if (facts.name == name) return &facts;
  return nullptr;
}

const ContainerFacts* PodWorker::find_running(std::string_view name, std::string_view id) {
  const ContainerFacts* facts = find_facts(name);
  return facts != nullptr && facts->running() && facts->run->id == id ? facts : nullptr;
}

bool PodWorker::is_init(std::string_view name) const {
  return std::any_of(facts_.init.begin(), facts_.init.end(),
                     [&](const ContainerFacts& facts) { return facts.name == name; });
}

json::value PodWorker::spec_of(const std::string& name) const {
  const json::value* found = find_container(pod_, name);
  return found != nullptr ? *found : json::value(json::object());
}

std::string PodWorker::full_name() const {
  return fmt::format("{}_{}({})", kube::name_of(pod_), kube::namespace_of(pod_), uid_);
}

}  // namespace plim::local::kubelet
