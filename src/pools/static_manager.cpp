#include "pools/static_manager.hpp"

#include "base/clock.hpp"
#include "kube/client.hpp"
#include "kube/event_recorder.hpp"
#include "pools/kubelet_records.hpp"

namespace plim::pools {

Task<std::string> ask_cpu_manager_policy(std::string kubelet_dir) {
  Executor loop = co_await current_loop();
  KubeletRecords records(loop, std::move(kubelet_dir));
  co_return co_await records.cpu_manager_policy();
}

Task<int> report_static_manager(kube::Config config, std::string node) {
  constexpr Nanos kPatience = std::chrono::seconds(3);
  Executor loop = co_await current_loop();
  auto client = kube::Client::create(loop, config);
  if (!client) co_return 0;
  kube::EventSource source{.component = "plimsoll-pools", .host = node};
  kube::EventRecorder events(loop, std::move(*client), std::move(source));
  events.start();
  kube::EventNote note{
      .about = {.api_version = "v1", .kind = "Node", .ns = {}, .name = node, .uid = node},
      .type = kube::EventNote::Type::warning,
      .reason = kStaticManagerReason,
      .message = kStaticManagerText};
  events.record(note);
  co_await events.flush(kPatience);
  co_await events.stop();
  co_return 0;
}

}  // namespace plim::pools
