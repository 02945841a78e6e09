// How a pod's worker starts a container: image, environment, devices, cgroup, process, hook.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "kube/object.hpp"
#include "local/kubelet/runtime/api_access.hpp"
#include "local/kubelet/runtime/launch.hpp"
#include "local/kubelet/runtime/pod_worker.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;
using Type = kube::EventNote::Type;

namespace {

constexpr auto kConfigRetry = 10s;  // until a missing ConfigMap is looked for again

images::PullPolicy policy_of(const json::value& container) {
  const std::string_view text = text_at(container, {"imagePullPolicy"});
  if (text == "Always") return images::PullPolicy::always;
  return text == "Never" ? images::PullPolicy::never : images::PullPolicy::if_not_present;
}

std::string shown(Nanos duration) {
  return format_duration(std::chrono::floor<std::chrono::milliseconds>(duration));
}

// A kubelet's words; what follows them it does not know, since layers are its runtime's matter.
std::string pulled_message(std::string_view image, const images::Pulled& pulled) {
  const std::int64_t size = pulled.image->bytes();
  std::string out = fmt::format(
      "Successfully pulled image \"{}\" in {} ({} including waiting). Image size: {} bytes.", image,
      shown(pulled.took), shown(pulled.took_with_waiting), size);
  if (pulled.bytes != size)
    out += fmt::format(" Moved {} bytes, the other layers were here.", pulled.bytes);
  return out;
}

}  // namespace

// When to look again; SteadyTime::max(): nothing to wait for.
Task<SteadyTime> PodWorker::try_start(std::string name) {
  ContainerFacts& facts = *find_facts(name);
  Container& container = containers_[name];
  const SteadyTime now = node_.clock.steady();
  if (container.retry_at && now < *container.retry_at) {
    if (facts.waiting_reason == "ErrImagePull") {
      facts.waiting_reason = "ImagePullBackOff";
      facts.waiting_message = fmt::format("Back-off pulling image \"{}\"", facts.image);
      event(Type::normal, "BackOff", facts.waiting_message, name);
      event(Type::warning, "Failed", "Error: ImagePullBackOff", name);
    }
    co_return *container.retry_at;
  }
  if (facts.run && !container.retry_at) {
    const Nanos delay = container.backoff.delay(container.ended_at);
    if (now < container.ended_at + delay) {
      if (facts.waiting_reason != "CrashLoopBackOff") {
        facts.waiting_reason = "CrashLoopBackOff";
        facts.waiting_message = fmt::format("back-off {} restarting failed container={} pod={}",
                                            format_duration(delay), name, full_name());
        event(Type::warning, "BackOff",
              fmt::format("Back-off restarting failed container {} in pod {}", name, full_name()),
              name);
      }
      co_return container.ended_at + delay;
    }
  }
  co_return co_await start_container(std::move(name));
}

// Nothing runs for this reason; tried again later.
SteadyTime PodWorker::wait_with(std::string name, std::string_view reason, std::string message) {
  ContainerFacts& facts = *find_facts(name);
  event(Type::warning, "Failed", "Error: " + message, name);
  facts.waiting_reason = reason;
  facts.waiting_message = std::move(message);
  const SteadyTime again = node_.clock.steady() + kConfigRetry;
  containers_[name].retry_at = again;
  return again;
}

Task<std::shared_ptr<const images::Image>> PodWorker::pull(std::string name) {
  const json::value spec = spec_of(name);
  const std::string image(text_at(spec, {"image"}));
  bool asked = false;  // a registry; also for an image that turns out to be there
  std::function<void()> started = [this, image, name, &asked] {
    asked = true;
    event(Type::normal, "Pulling", fmt::format("Pulling image \"{}\"", image), name);
  };
  auto pulled = co_await node_.images.ensure(image, policy_of(spec), std::move(started));
  ContainerFacts& facts = *find_facts(name);
  Container& container = containers_[name];
  if (pulled) {
    container.pull_backoff = {};
    container.retry_at.reset();
    event(Type::normal, "Pulled",
          pulled->was_present && !asked
              ? fmt::format("Container image \"{}\" already present on machine", image)
              : pulled_message(image, *pulled),
          name);
    co_return pulled->image;
  }
  const SteadyTime now = node_.clock.steady();
  if (pulled.error().code == Code::forbidden) {
    wait_with(
        name, "ErrImageNeverPull",
        fmt::format("Container image \"{}\" is not present with pull policy of Never", image));
  } else {
    event(Type::warning, "Failed",
          fmt::format("Failed to pull image \"{}\": {}", image, pulled.error().message), name);
    event(Type::warning, "Failed", "Error: ErrImagePull", name);
    facts.waiting_reason = "ErrImagePull";
    facts.waiting_message = pulled.error().message;
    container.pull_backoff.note_restart(now, now);
    container.retry_at = now + container.pull_backoff.delay(now);
    changed();  // the next look turns it into ImagePullBackOff
  }
  co_return nullptr;
}

Task<Result<Environment>> PodWorker::environment_of(json::value container,
                                                    std::shared_ptr<const images::Image> image) {
  const PodPlace place = node_.place(facts_.pod_ip);
  Environment base = base_environment(pod_, *image, place, node_.volume_roots(uid_));
  PLIM_CO_TRY(PodSources sources,
              co_await fetch_sources(node_.client, pod_, env_needs(pod_, container)));
  if (!node_.options.api_url.empty()) {
    // The API is reached directly, whatever the address of its service.
    std::erase_if(sources.services, [](const json::value& service) {
      return kube::name_of(service) == "kubernetes" && kube::namespace_of(service) == "default";
    });
    add_api_environment(node_.options, files_.directory(), node_.isolated, base);
  }
  co_return make_environment(pod_, container, place, sources, std::move(base));
}

Task<SteadyTime> PodWorker::start_container(std::string name) {
  const std::shared_ptr<const images::Image> image = co_await pull(name);
  if (!image) co_return containers_[name].retry_at.value_or(SteadyTime::max());
  const json::value spec = spec_of(name);
  ContainerFacts& facts = *find_facts(name);
  Launch launch;
  launch.restart = facts.run ? facts.run->restart + 1 : 0;
  auto environment = co_await environment_of(spec, image);
  if (!environment)
    co_return wait_with(name, "CreateContainerConfigError", environment.error().message);
  auto grants = co_await node_.devices.prepare(pod_, name);
  if (!grants) co_return wait_with(name, "CreateContainerError", grants.error().message);
  if (!shim_open_) {
    auto opened = co_await open_shim();
    if (!opened) co_return wait_with(name, "RunContainerError", opened.error().message);
  }
  launch.pod = pod_;
  launch.container = spec;
  launch.id = make_token(32);
  launch.image = image;
  launch.environment = std::move(*environment);
  launch.grants = std::move(*grants);
  launch.roots = node_.volume_roots(uid_);
  launch.log = files_.log(name, launch.restart);
  launch.termination_log = files_.termination_log(name, launch.restart);
  launch.isolated = node_.isolated;
  launch.program = node_.program;
  auto made = node_.cgroups.make_container(pod_, name, launch.id);
  if (made) made = files_.make_run(name, launch.restart);
  if (!made) co_return wait_with(name, "CreateContainerError", made.error().message);
  launch.cgroup = node_.cgroups.procs_files(pod_, launch.id);
  auto start = make_start_spec(launch);
  if (!start) co_return wait_with(name, "CreateContainerConfigError", start.error().message);
  add_api_mount(node_.options, files_.directory(), *start);
  event(Type::normal, "Created", fmt::format("Created container: {}", name), name);
  auto run = co_await shim_.start(std::move(*start));
  if (!run) co_return wait_with(name, "RunContainerError", run.error().message);

  Container& container = containers_[name];
  const SteadyTime now = node_.clock.steady();
  if (facts.run) container.backoff.note_restart(container.ended_at, now);
  container.retry_at.reset();
  facts.last = std::exchange(
      facts.run, RunFacts{.id = run->id, .restart = launch.restart, .started = run->started});
  facts.image = image->name;
  facts.image_id = text_at(run->tag, {"imageID"});
  facts.waiting_reason.clear();
  facts.waiting_message.clear();
  note_run(*run);
  if (!run->running) {
    event(Type::warning, "Failed", "Error: " + run->error, name);
    note_end(facts, *run);
    changed();
    co_return SteadyTime::max();
  }
  event(Type::normal, "Started", fmt::format("Started container {}", name), name);
  co_await correct_start(std::move(*run));
  co_await apply_shim_state();  // it may have ended before its start was told
  const bool fine = co_await run_post_start(name, launch.id);
  if (fine && find_running(name, launch.id) != nullptr) start_probes(name);
  changed();
  co_return SteadyTime::max();
}

Task<bool> PodWorker::run_post_start(std::string name, std::string id) {
  const json::value spec = spec_of(name);
  const json::value* hook = find(spec, {"lifecycle", "postStart"});
  if (hook == nullptr || find_running(name, id) == nullptr) co_return true;
  HandlerTarget target = target_of(name, id);
  const HandlerOutcome done = co_await run_handler(*hook, std::move(target), 10min);
  if (done.success) co_return true;
  event(Type::warning, "FailedPostStartHook", "PostStartHook failed", name);
  event(Type::normal, "Killing", "FailedPostStartHook", name);
  co_await end_container(name, node_.clock.steady(), grace());
  co_return false;
}

Task<Result<void>> PodWorker::make_api_access() {
  if (node_.options.api_url.empty()) co_return Result<void>();
  auto made = co_await write_api_access(node_.client, pod_, node_.options, files_.directory());
  // A cluster that gives no tokens still runs pods.
  if (!made)
    log::debug("node", "no API access for a pod", {{"pod", full_name()}, {"error", made.error()}});
  co_return Result<void>();
}

}  // namespace plim::local::kubelet
