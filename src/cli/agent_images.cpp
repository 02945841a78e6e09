#include "cli/agent_images.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/cluster.hpp"
#include "cli/etcd_flags.hpp"
#include "cli/role_run.hpp"

namespace plim::cli {
namespace {

constexpr std::string_view kUnixPrefix = "unix://";
constexpr std::chrono::milliseconds kShortestInterval{100};

Failure images_failure(const Error& error) {
  return daemon_failure(Plm::bad_agent_config, error);
}

std::vector<std::string> list_of_words(const std::string& text) {
  std::vector<std::string> out;
  for (std::string_view word : split(text, ','))
    if (!trim(word).empty()) out.emplace_back(trim(word));
  return out;
}

Outcome<Nanos> interval_of(const Context& context, std::string_view flag) {
  const auto interval = context.values.duration(flag);
  if (interval < kShortestInterval)
    return usage_failure(Plm::bad_flag_value, fmt::format("--{}: at least 100ms", flag));
  return Nanos(interval);
}

// One process per node; the first one's pid is in the message. A directory that is not there is no
// reason not to start: in a pod with nothing but the socket there is nobody to clash with.
Outcome<std::optional<FileLock>> take_lock(const Context& context) {
  std::string directory = context.values.text("run-dir");
  const std::string& root = context.values.text("host-root");
  if (directory.empty()) directory = (root == "/" ? "" : root) + "/run/plimsoll";
  if (!make_directories(directory)) return std::nullopt;
  auto taken = FileLock::acquire(directory + "/images.lock");
  if (taken) return std::move(*taken);
  if (taken.error().code != Code::already_exists) return std::nullopt;
  Failure out = images_failure(
      taken.error().with_context("the images of this node are kept by another process"));
  out.next = "one is enough; stop the other one first";
  return tl::unexpected(std::move(out));
}

}  // namespace

Outcome<std::unique_ptr<ImagesModule>> ImagesModule::make(const Context& context) {
  std::unique_ptr<ImagesModule> out(new ImagesModule());
  images::DaemonOptions& options = out->options_;
  options.node_name = context.values.text("node-name");
  if (options.node_name.empty()) options.node_name = context.world.env("NODE_NAME").value_or("");
  if (options.node_name.empty())
    return usage_failure(Plm::wrong_arguments, "the agent does not know which node this is",
                         "--node-name NAME, or NODE_NAME in the environment");
  std::string_view socket = context.values.text("cri-endpoint");
  if (socket.starts_with(kUnixPrefix)) socket.remove_prefix(kUnixPrefix.size());
  if (!socket.empty() && !socket.starts_with('/'))
    return usage_failure(Plm::bad_flag_value,
                         "--cri-endpoint: expected the absolute path of a socket",
                         "unix:///run/containerd/containerd.sock");
  options.socket = socket;
  options.host_root = context.values.text("host-root");
  PLIM_CLI_TRY(options.interval, interval_of(context, "images-interval"));
  PLIM_CLI_TRY(options.resend, interval_of(context, "images-resend"));
  options.pull_interval = std::min(options.pull_interval, options.interval);
  PLIM_CLI_CHECK(out->choose_places(context));
  PLIM_CLI_TRY(out->lock_, take_lock(context));
  return out;
}

Outcome<void> ImagesModule::choose_places(const Context& context) {
  std::vector<std::string> places = list_of_words(context.values.text("publish"));
  if (places.empty())
    return usage_failure(Plm::bad_flag_value, "--publish: expected crd, annotation or etcd");
  for (const std::string& place : places) {
    if (place == "etcd") {
      PLIM_CLI_TRY(etcd_, etcd_options(context));
      if (etcd_.endpoints.empty())
        return usage_failure(
            Plm::wrong_arguments, "--publish etcd needs --etcd-endpoints",
            "https://127.0.0.1:2379, with --etcd-cacert, --etcd-cert and --etcd-key");
      etcd_place_.cluster = context.values.text("etcd-cluster");
      etcd_place_.node = options_.node_name;
      etcd_place_.lease =
          std::chrono::ceil<std::chrono::seconds>(context.values.duration("etcd-lease"));
      if (etcd_place_.lease <= options_.resend)
        return usage_failure(Plm::bad_flag_value,
                             "--etcd-lease: expected more than --images-resend");
    } else if (place != "crd" && place != "annotation") {
      return usage_failure(Plm::bad_flag_value,
                           fmt::format("--publish: {} is no place", quote(place)),
                           "crd, annotation, etcd, or several of them");
    }
  }
  if (context.values.boolean("dry-run")) {
    log::info("images", "dry run: nothing is published");
    return {};
  }
  if (std::ranges::any_of(places, [](const std::string& place) { return place != "etcd"; })) {
    PLIM_CLI_TRY(cluster_, cluster_config(context));
  }
  places_ = std::move(places);
  return {};
}

Result<std::vector<std::unique_ptr<images::Publisher>>> ImagesModule::publishers(
    const Executor& loop) const {
  std::vector<std::unique_ptr<images::Publisher>> out;
  std::shared_ptr<kube::Client> client;
  if (cluster_) {
    PLIM_TRY(client, kube::Client::create(loop, *cluster_));
  }
  for (const std::string& place : places_) {
    if (place == "crd") {
      out.push_back(images::publish_to_resource(client, options_.node_name));
    } else if (place == "annotation") {
      out.push_back(images::publish_to_annotation(client, options_.node_name));
    } else {
      PLIM_TRY(auto etcd, kube::EtcdClient::create(loop, etcd_));
      out.push_back(images::publish_to_etcd(std::move(etcd), etcd_place_));
    }
  }
  return out;
}

Result<void> ImagesModule::start(const Executor& loop, std::function<void(Error)>) {
  PLIM_TRY(auto made, publishers(loop));
  daemon_ = std::make_unique<images::Daemon>(loop, options_, std::move(made),
                                             metrics::default_registry(), system_clock());
  daemon_->start();
  return {};
}

Task<void> ImagesModule::stop() {
  if (daemon_) co_await daemon_->stop();
  daemon_.reset();
}

std::string ImagesModule::not_ready() const {
  return daemon_ ? daemon_->not_ready() : "images: not started";
}

json::value ImagesModule::state() const {
  if (!daemon_) return json::object{{"images", nullptr}};
  return daemon_->state();
}

Outcome<int> run_images_alone(const Context& context) {
  configure_role_log(context.values);
  PLIM_CLI_TRY(auto images, ImagesModule::make(context));
  AgentModules modules(AgentModules::Company::none);
  modules.add(std::move(images));
  return run_modules("images", std::move(modules),
                     agent_listen(context.values.text("metrics-listen")));
}

}  // namespace plim::cli
