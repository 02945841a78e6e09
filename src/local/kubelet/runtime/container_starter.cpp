#include "local/kubelet/runtime/container_starter.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/random.hpp"
#include "kube/object.hpp"
#include "kube/paths.hpp"
#include "local/kubelet/runtime/api_access.hpp"
#include "local/kubelet/runtime/launch.hpp"

namespace plim::local::kubelet {
using namespace std::chrono_literals;

namespace {

constexpr auto kConfigRetry = 10s;  // wait before looking for a missing ConfigMap again

images::PullPolicy policy_of(const json::value& container) {
  const std::string_view text = kube::text_at(container, "Container.imagePullPolicy");
  if (text == "Always") return images::PullPolicy::always;
  return text == "Never" ? images::PullPolicy::never : images::PullPolicy::if_not_present;
}

std::string shown(Nanos duration) {
  return format_duration(std::chrono::floor<std::chrono::milliseconds>(duration));
}

// The text of a kubelet. The last sentence is ours: a kubelet does not know about layers.
std::string pulled_message(std::string_view image, const images::Pulled& pulled) {
  const std::int64_t size = pulled.image->bytes();
  std::string out = fmt::format(
      "Successfully pulled image \"{}\" in {} ({} including waiting). Image size: {} bytes.", image,
      shown(pulled.took), shown(pulled.took_with_waiting), size);
  if (pulled.bytes != size)
    out += fmt::format(" Pulled {} bytes; the other layers were already present.", pulled.bytes);
  return out;
}

}  // namespace

Task<SteadyTime> ContainerStarter::try_start(std::string container) {
  const Waits& waits = waits_[container];
  const SteadyTime now = pod_.node.clock.steady();
  if (waits.retry_at && now < *waits.retry_at) {
    show_pull_backoff(container);
    co_return *waits.retry_at;
  }
  if (pod_.find_facts(container)->run && !waits.retry_at) {
    const Nanos delay = waits.restarts.delay(waits.ended_at);
    if (now < waits.ended_at + delay) {
      show_restart_backoff(container, delay);
      co_return waits.ended_at + delay;
    }
  }
  co_return co_await start(std::move(container));
}

void ContainerStarter::note_end(const std::string& container) {
  waits_[container].ended_at = pod_.node.clock.steady();
}

void ContainerStarter::show_pull_backoff(const std::string& container) {
  ContainerFacts& facts = *pod_.find_facts(container);
  if (facts.waiting_reason != "ErrImagePull") return;
  facts.waiting_reason = "ImagePullBackOff";
  facts.waiting_message = fmt::format("Back-off pulling image \"{}\"", facts.image);
  report_.note("BackOff", facts.waiting_message, container);
  report_.warn("Failed", "Error: ImagePullBackOff", container);
}

void ContainerStarter::show_restart_backoff(const std::string& container, Nanos delay) {
  ContainerFacts& facts = *pod_.find_facts(container);
  if (facts.waiting_reason == "CrashLoopBackOff") return;
  const std::string pod = pod_.full_name();
  facts.waiting_reason = "CrashLoopBackOff";
  facts.waiting_message = fmt::format("back-off {} restarting failed container={} pod={}",
                                      format_duration(delay), container, pod);
  report_.warn("BackOff",
               fmt::format("Back-off restarting failed container {} in pod {}", container, pod),
               container);
}

void ContainerStarter::put_off(const std::string& container, std::string_view reason,
                               std::string message) {
  ContainerFacts& facts = *pod_.find_facts(container);
  report_.warn("Failed", "Error: " + message, container);
  facts.waiting_reason = reason;
  facts.waiting_message = std::move(message);
  waits_[container].retry_at = pod_.node.clock.steady() + kConfigRetry;
}

SteadyTime ContainerStarter::retry_at(const std::string& container) {
  return waits_[container].retry_at.value_or(SteadyTime::max());
}

Task<std::shared_ptr<const images::Image>> ContainerStarter::pull(std::string container) {
  const json::value spec = pod_.spec_of(container);
  const std::string image(kube::text_at(spec, "Container.image"));
  bool asked = false;  // a registry was asked, even if the image is present
  std::function<void()> started = [this, image, container, &asked] {
    asked = true;
    report_.note("Pulling", fmt::format("Pulling image \"{}\"", image), container);
  };
  auto pulled = co_await pod_.node.images.ensure(image, policy_of(spec), std::move(started));
  if (!pulled) {
    fail_pull(container, image, pulled.error());
    co_return nullptr;
  }
  waits_[container].pulls = {};
  waits_[container].retry_at.reset();
  report_.note("Pulled",
               pulled->was_present && !asked
                   ? fmt::format("Container image \"{}\" already present on machine", image)
                   : pulled_message(image, *pulled),
               container);
  co_return pulled->image;
}

void ContainerStarter::fail_pull(const std::string& container, const std::string& image,
                                 const Error& error) {
  if (error.code == Code::forbidden) {
    put_off(container, "ErrImageNeverPull",
            fmt::format("Container image \"{}\" is not present with pull policy of Never", image));
    return;
  }
  report_.warn("Failed", fmt::format("Failed to pull image \"{}\": {}", image, error.message),
               container);
  report_.warn("Failed", "Error: ErrImagePull", container);
  ContainerFacts& facts = *pod_.find_facts(container);
  facts.waiting_reason = "ErrImagePull";
  facts.waiting_message = error.message;
  Waits& waits = waits_[container];
  const SteadyTime now = pod_.node.clock.steady();
  waits.pulls.note_restart(now, now);
  waits.retry_at = now + waits.pulls.delay(now);
  pod_.note_change();  // the next look turns it into ImagePullBackOff
}

Task<Result<Environment>> ContainerStarter::environment_of(
    json::value spec, std::shared_ptr<const images::Image> image) {
  const PodContext& node = pod_.node;
  const PodPlace place = node.place(pod_.facts.pod_ip);
  Environment base = base_environment(pod_.object, *image, place, node.volume_roots(pod_.uid));
  PLIM_CO_TRY(PodSources sources,
              co_await fetch_sources(node.client, pod_.object, env_needs(pod_.object, spec)));
  if (!node.options.api_url.empty()) {
    // Containers reach the API directly, not through the address of its service.
    std::erase_if(sources.services, [](const json::value& service) {
      return kube::name_of(service) == "kubernetes" && kube::namespace_of(service) == "default";
    });
    add_api_environment(node.options, pod_.files.directory(), node.isolated, base);
  }
  co_return make_environment(pod_.object, spec, place, sources, std::move(base));
}

Task<std::optional<StartSpec>> ContainerStarter::prepare(
    std::string container, std::shared_ptr<const images::Image> image) {
  PodContext& node = pod_.node;
  const ContainerFacts& facts = *pod_.find_facts(container);
  Launch launch;
  launch.container = pod_.spec_of(container);
  launch.restart = facts.run ? facts.run->restart + 1 : 0;
  auto environment = co_await environment_of(launch.container, image);
  if (!environment) {
    put_off(container, "CreateContainerConfigError", environment.error().message);
    co_return std::nullopt;
  }
  auto grants = co_await node.devices.prepare(pod_.object, container);
  if (!grants) {
    put_off(container, "CreateContainerError", grants.error().message);
    co_return std::nullopt;
  }
  auto opened = co_await shim_.open();
  if (!opened) {
    put_off(container, "RunContainerError", opened.error().message);
    co_return std::nullopt;
  }
  launch.pod = pod_.object;
  launch.id = make_token(32);
  launch.image = image;
  launch.environment = std::move(*environment);
  launch.grants = std::move(*grants);
  launch.roots = node.volume_roots(pod_.uid);
  launch.log = pod_.files.log(container, launch.restart);
  launch.termination_log = pod_.files.termination_log(container, launch.restart);
  launch.isolated = node.isolated;
  launch.program = node.program;
  auto made = node.cgroups.make_container(pod_.object, container, launch.id);
  if (made) made = pod_.files.make_run(container, launch.restart);
  if (!made) {
    put_off(container, "CreateContainerError", made.error().message);
    co_return std::nullopt;
  }
  launch.cgroup = node.cgroups.procs_files(pod_.object, launch.id);
  auto spec = make_start_spec(launch);
  if (!spec) {
    put_off(container, "CreateContainerConfigError", spec.error().message);
    co_return std::nullopt;
  }
  add_api_mount(node.options, pod_.files.directory(), *spec);
  if (auto understood = check_understood(*spec, shim_.protocol()); !understood) {
    put_off(container, "CreateContainerConfigError", understood.error().message);
    co_return std::nullopt;
  }
  co_return std::move(*spec);
}

Task<SteadyTime> ContainerStarter::start(std::string container) {
  const std::shared_ptr<const images::Image> image = co_await pull(container);
  if (!image) co_return retry_at(container);
  std::optional<StartSpec> spec = co_await prepare(container, image);
  if (!spec) co_return retry_at(container);
  report_.note("Created", fmt::format("Created container: {}", container), container);
  const std::string id = spec->id;
  auto run = co_await shim_.client().start(std::move(*spec));
  if (!run) {
    put_off(container, "RunContainerError", run.error().message);
    co_return retry_at(container);
  }
  Waits& waits = waits_[container];
  if (pod_.find_facts(container)->run)
    waits.restarts.note_restart(waits.ended_at, pod_.node.clock.steady());
  waits.retry_at.reset();
  if (const json::value* allocated = pod_.facts.allocated.if_contains(container))
    pod_.facts.actuated[container] = *allocated;
  shim_.begin_run(*run);
  if (!run->running) {
    report_.warn("Failed", "Error: " + run->error, container);
    shim_.end_run(*run);
    pod_.note_change();
    co_return SteadyTime::max();
  }
  report_.note("Started", fmt::format("Started container {}", container), container);
  co_await shim_.correct_start(std::move(*run));
  co_await shim_.find_ends();  // the shim may have reported the end before it answered
  co_await run_post_start(container, id);
  pod_.note_change();
  co_return SteadyTime::max();
}

// The probes begin after the hook. Without them the container never becomes ready.
Task<void> ContainerStarter::run_post_start(std::string container, std::string id) {
  if (pod_.find_running(container, id) == nullptr) co_return;
  const json::value spec = pod_.spec_of(container);
  const json::value* hook = kube::find(spec, "Container.lifecycle.postStart");
  if (hook != nullptr) {
    HandlerTarget target = shim_.target_of(container, id);
    const HandlerOutcome done = co_await run_handler(*hook, std::move(target), 10min);
    if (!done.success) {
      report_.warn("FailedPostStartHook", "PostStartHook failed", container);
      report_.note("Killing", "FailedPostStartHook", container);
      co_await stopper_.stop(container, pod_.node.clock.steady(), pod_.grace());
      co_return;
    }
  }
  if (pod_.find_running(container, id) != nullptr) probes_.start(container);
}

}  // namespace plim::local::kubelet
