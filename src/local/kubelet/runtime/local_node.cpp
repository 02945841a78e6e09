#include "local/kubelet/runtime/local_node.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "kube/event_recorder.hpp"
#include "kube/informer.hpp"
#include "kube/object.hpp"
#include "local/kubelet/runtime/launch.hpp"
#include "local/kubelet/runtime/log_reader.hpp"
#include "local/kubelet/runtime/node_object.hpp"
#include "local/kubelet/runtime/node_registration.hpp"
#include "local/kubelet/runtime/pod_admission.hpp"
#include "local/kubelet/runtime/pod_context.hpp"
#include "local/kubelet/runtime/pod_worker.hpp"

namespace plim::local::kubelet {

namespace {

// The whole object of a pod, with the fields that the informer needs.
struct PodObject {
  kube::ObjectMeta meta;
  json::value object;
};

kube::Codec<PodObject> pod_object_codec(kube::InternPool& pool) {
  return kube::codec_of<PodObject>([&pool](kube::JsonText text) -> Result<PodObject> {
    PLIM_TRY(kube::ObjectMeta meta, kube::decode_meta(text, pool));
    PLIM_TRY(json::value object, parse_json(text.view()));
    return PodObject{std::move(meta), std::move(object)};
  });
}

std::string own_program(const NodeOptions& options) {
  if (!options.program.empty()) return options.program;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

bool is_plain_name(std::string_view uid) {
  return !uid.empty() && uid.find('/') == uid.npos && uid.front() != '.';
}

class Node final : public LocalNode {
 public:
  Node(NodeParts parts, NodeOptions options)
      : options_(std::move(options)),
        addresses_(options_.index),
        freed_(parts.loop),
        machine_(look_at_machine(options_.state_dir)),
        events_(parts.loop, parts.client,
                kube::EventSource{.component = "kubelet", .host = options_.name}, parts.clock),
        registration_(parts.loop, parts.client, parts.clock, options_, [this] { return facts(); }),
        context_{.loop = parts.loop,
                 .client = parts.client,
                 .clock = parts.clock,
                 .images = parts.images,
                 .cgroups = parts.cgroups,
                 .devices = parts.devices,
                 .events = events_,
                 .options = options_,
                 .addresses = addresses_,
                 .freed = freed_,
                 .process_events = parts.process_events,
                 .program = own_program(options_),
                 .isolated = options_.isolation == Isolation::automatic && can_isolate(),
                 .node = [this] { return registration_.node(); },
                 .others = [this](const std::string& uid) { return active_pods(uid); },
                 .leaving = [this] { return somebody_leaves(); },
                 .retry_resizes = [this] { retry_resizes(); },
                 .gone = [this](const std::string& uid) { forget(uid); }},
        informer_(parts.loop, parts.client, kube::resources::pods, pod_object_codec(pool_),
                  pods_of_this_node(options_), parts.clock),
        tasks_(parts.loop) {
    if (options_.milli_cpus > 0) machine_.milli_cpus = options_.milli_cpus;
    if (options_.memory_bytes > 0) machine_.memory_bytes = options_.memory_bytes;
    if (options_.ephemeral_storage > 0) machine_.storage_bytes = options_.ephemeral_storage;
  }

  Task<Result<void>> start() override {
    PLIM_CO_CHECK(make_directories(context_.pod_directory(""), 0700));
    PLIM_CO_CHECK(install_programs());
    // Reserve before a new pod can take one of these addresses.
    for (const std::string& uid : pod_directories())
      if (const auto note = PodFiles(context_.pod_directory(uid)).read_note())
        addresses_.reserve(note->pod_ip);
    PLIM_CO_CHECK(co_await registration_.enter());
    registration_.start();
    events_.start();
    context_.images.on_change([this] { registration_.facts_changed(); });
    context_.devices.on_change([this] { registration_.facts_changed(); });
    informer_.add_handlers(
        {.on_add = [this](const auto& pod) { add(pod->object); },
         .on_update = [this](const auto&, const auto& now) { update(now->object); },
         .on_delete = [this](const auto& last) { vanish(last->meta.uid); },
         .on_synced = [this] { tasks_.spawn("sweep", sweep()); }});
    informer_.start();
    co_await informer_.wait_synced();
    co_return Result<void>();
  }

  Task<void> end_pods(Shutdown kind) override {
    for (auto& [uid, worker] : workers_) worker->end_for_shutdown(kind);
    std::vector<std::shared_ptr<PodWorker>> all;
    for (auto& [uid, worker] : workers_) all.push_back(worker);
    for (auto& worker : all) co_await worker->wait_ended();
  }

  Task<void> stop() override {
    context_.images.on_change({});  // they outlive the node, which may start again
    context_.devices.on_change({});
    co_await informer_.stop();
    co_await tasks_.stop();
    for (auto& [uid, worker] : workers_) co_await worker->stop();
    workers_.clear();
    co_await registration_.stop();
    co_await events_.stop();
  }

  const json::value& node() const override { return registration_.node(); }

  const std::string& address() const override { return addresses_.node(); }

  bool isolated() const override { return context_.isolated; }

  std::vector<json::value> pods() const override {
    std::vector<json::value> out;
    for (const auto& [uid, worker] : workers_) out.push_back(worker->pod());
    return out;
  }

  std::vector<ContainerRun> runs() const override {
    std::vector<ContainerRun> out = past_runs_;
    for (const auto& [uid, worker] : workers_)
      out.insert(out.end(), worker->runs().begin(), worker->runs().end());
    return out;
  }

  std::vector<int> processes(const std::string& pod_uid,
                             const std::string& container) const override {
    const auto found = workers_.find(pod_uid);
    return found != workers_.end() ? found->second->processes(container) : std::vector<int>();
  }

  Task<Result<void>> read_log(std::string ns, std::string pod, std::string container,
                              LogOptions options, std::function<bool(std::string)> write) override {
    std::shared_ptr<PodWorker> worker = find_worker(ns, pod);
    if (!worker) co_return fail(Code::not_found, fmt::format("pod {}/{} not found", ns, pod));
    PLIM_CO_TRY(LogPlace place, find_log(worker->pod(), worker->facts(), worker->files(), container,
                                         options.previous));
    // The worker exists as long as its log is read.
    co_return co_await copy_log(std::move(place), options, &worker->shim(), std::move(write));
  }

 private:
  // Our program under the names that containers call.
  Result<void> install_programs() const {
    const std::string directory = own_programs(context_.volume_roots(""));
    PLIM_CHECK(make_directories(directory));
    const std::string link = directory + "/crictl";
    std::error_code problem;
    std::filesystem::remove(link, problem);  // the program may have moved
    std::filesystem::create_symlink(context_.program, link, problem);
    if (problem) return fail_errno(problem.value(), fmt::format("cannot create {}", link));
    return {};
  }

  static kube::ReflectorOptions pods_of_this_node(const NodeOptions& options) {
    kube::ReflectorOptions out;
    out.field_selector = "spec.nodeName=" + options.name;
    return out;
  }

  NodeFacts facts() const {
    return {.address = addresses_.node(),
            .machine = machine_,
            .has_cgroups = context_.cgroups.available(),
            .why_no_cgroups = context_.cgroups.available() ? "" : context_.cgroups.why_not(),
            .images = context_.images.list(),
            .devices = context_.devices.counts()};
  }

  void add(const json::value& pod) {
    const std::string uid(kube::uid_of(pod));
    if (!is_plain_name(uid)) return;  // the uid becomes a directory name
    if (!kube::annotation_of(pod, "kubernetes.io/config.mirror").empty()) return;  // runs elsewhere
    auto worker = std::make_shared<PodWorker>(context_, pod);
    workers_[uid] = worker;
    worker->start();
  }

  void update(const json::value& pod) {
    const auto found = workers_.find(std::string(kube::uid_of(pod)));
    if (found != workers_.end()) found->second->update(pod);
  }

  void vanish(const std::string& uid) {
    const auto found = workers_.find(uid);
    if (found != workers_.end()) found->second->vanish();
  }

  // The worker itself calls this, so it is destroyed by a task, a little later.
  void forget(const std::string& uid) { tasks_.spawn("end of a pod's worker", let_go(uid)); }

  Task<void> let_go(std::string uid) {
    const auto found = workers_.find(uid);
    if (found == workers_.end()) co_return;
    const std::shared_ptr<PodWorker> worker = found->second;
    remember_runs(*worker);
    workers_.erase(found);
    co_await worker->stop();
  }

  void remember_runs(const PodWorker& worker) {
    constexpr std::size_t kRemembered = 10'000;
    past_runs_.insert(past_runs_.end(), worker.runs().begin(), worker.runs().end());
    if (past_runs_.size() > kRemembered)
      past_runs_.erase(past_runs_.begin(),
                       past_runs_.end() - static_cast<std::ptrdiff_t>(kRemembered));
  }

  std::vector<json::value> active_pods(const std::string& without) const {
    std::vector<json::value> out;
    for (const auto& [uid, worker] : workers_)
      if (uid != without && worker->is_active()) out.push_back(worker->pod());
    return out;
  }

  void retry_resizes() {
    for (const auto& [uid, worker] : workers_) worker->retry_resize();
  }

  bool somebody_leaves() const {
    return std::ranges::any_of(workers_, [](const auto& one) { return one.second->is_leaving(); });
  }

  std::shared_ptr<PodWorker> find_worker(std::string_view ns, std::string_view name) const {
    for (const auto& [uid, worker] : workers_)
      if (kube::namespace_of(worker->pod()) == ns && kube::name_of(worker->pod()) == name)
        return worker;
    return nullptr;
  }

  std::vector<std::string> pod_directories() const {
    std::vector<std::string> out;
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(context_.pod_directory(""), ignored))
      out.push_back(entry.path().filename().string());
    return out;
  }

  // Removes directories of pods that were deleted while the node did not run.
  Task<void> sweep() {
    std::vector<std::string> known;
    for (const auto& [uid, worker] : workers_) known.push_back(uid);
    context_.devices.keep_only(known);
    for (const std::string& uid : pod_directories()) {
      if (workers_.contains(uid)) continue;
      const PodFiles files(context_.pod_directory(uid));
      ShimClient shim(files.directory(), options_.shim);
      auto quit = co_await shim.quit();
      if (!quit)
        log::warn("node", "cannot end a stray shim", {{"pod", uid}, {"error", quit.error()}});
      if (const auto note = files.read_note()) {
        co_await remove_cgroup(&context_.cgroups, note->pod);
        remove_volumes(note->pod);
        addresses_.release(note->pod_ip);
      }
      files.remove_everything();
    }
  }

  NodeOptions options_;
  PodAddresses addresses_;
  Event freed_;
  MachineFacts machine_;
  kube::EventRecorder events_;
  NodeRegistration registration_;
  PodContext context_;
  kube::InternPool pool_;
  // Shared with readers of logs: a pod may end while its log is read.
  std::map<std::string, std::shared_ptr<PodWorker>> workers_;
  std::vector<ContainerRun> past_runs_;
  kube::Informer<PodObject> informer_;
  TaskGroup tasks_;
};

}  // namespace

std::unique_ptr<LocalNode> LocalNode::create(NodeParts parts, NodeOptions options) {
  return std::make_unique<Node>(std::move(parts), std::move(options));
}

}  // namespace plim::local::kubelet
