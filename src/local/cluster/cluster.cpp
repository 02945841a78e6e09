#include "local/cluster/cluster.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/rfc3339.hpp"
#include "base/text.hpp"
#include "local/cluster/kubeconfig_file.hpp"

namespace plim::local::cluster {
namespace {

using namespace std::chrono_literals;

const apiserver::User kAdmin{.name = "plimsoll-admin",
                             .groups = {"system:masters", "system:authenticated"}};
const apiserver::User kControllersUser{.name = "system:kube-controller-manager",
                                       .groups = {"system:authenticated"}};
const apiserver::User kSimulatorUser{.name = "system:plimsoll:simulator",
                                     .groups = {"system:nodes", "system:authenticated"}};
const apiserver::User kMirrorUser{.name = "system:plimsoll:nodes", .groups = {"system:masters"}};
const apiserver::User kSchedulerUser{.name = "system:kube-scheduler",
                                     .groups = {"system:authenticated"}};

// The port of the last run. It is kept because kubectl caches the API's discovery by address.
std::uint16_t remembered_port(const std::string& endpoints) {
  auto text = read_file(endpoints);
  if (!text) return kFirstPort;
  auto value = parse_json(*text, endpoints);
  if (!value) return kFirstPort;
  std::string_view url = text_at(*value, {"api"});
  auto colon = url.rfind(':');
  if (colon == url.npos) return kFirstPort;
  return parse_int<std::uint16_t>(url.substr(colon + 1)).value_or(kFirstPort);
}

std::string context_name(const ClusterDirectories& directories) {
  return fmt::format("plimsoll-{}", directories.name);
}

}  // namespace

Cluster::Cluster(Executor loop, Clock& clock, ClusterOptions options)
    : loop_(std::move(loop)), clock_(clock), options_(std::move(options)) {
  if (options_.kubeconfig.empty()) options_.kubeconfig = options_.directories.kubeconfig();
  if (options_.began == SteadyTime{}) options_.began = clock_.steady();
}

Cluster::~Cluster() = default;

Task<Result<void>> Cluster::start() {
  PLIM_CO_CHECK(take_place());
  started_ = clock_.wall();
  PLIM_CO_TRY(keys_, keep_keys(options_.directories.keys(), options_.server_names, started_));
  PLIM_CO_CHECK(open_store());
  reached(fmt::format("store open with {} objects at revision {}", store_->stats().entries,
                      store_->stats().revision));
  apiserver::ApiOptions api{.admin_token = keys_.admin_token,
                            .service_account_key_pem = keys_.token_key};
  api.kubelet_tls = {.ca_pem = keys_.authority.certificate_pem,
                     .certificate_pem = keys_.admin.certificate_pem,
                     .key_pem = keys_.admin.key_pem};
  PLIM_CO_TRY(api_, apiserver::ApiServer::create(loop_, clock_, *store_, std::move(api)));
  custom_resources_ = apiserver::CustomResources::install(loop_, clock_, *store_, *api_);
  webhooks_ = apiserver::AdmissionWebhooks::install(loop_, *store_, *api_);
  metrics_.emplace(api_->client(kAdmin), clock_, [this](std::string_view node) {
    std::optional<node::NodeUsage> used;
    if (nodes_) used = nodes_->usage(node);
    if (!used && simulator_) used = simulator_->usage(node);
    return used;
  });
  api_->hooks().metrics = [this](apiserver::CallPtr call) {
    return metrics_->answer(std::move(call));
  };
  PLIM_CO_CHECK(co_await api_->start());
  custom_resources_->start();
  client_ = api_->client(kAdmin);
  PLIM_CO_CHECK(listen());
  PLIM_CO_CHECK(write_files());
  reached(fmt::format("API server at {}", url_));
  start_controllers();
  PLIM_CO_CHECK(co_await start_nodes());
  PLIM_CO_CHECK(co_await start_simulator());
  PLIM_CO_TRY(control_, Control::listen(loop_, options_.directories.control_socket(), *this));
  ready_after_ = clock_.steady() - options_.began;
  reached("ready");
  co_return Result<void>();
}

Task<void> Cluster::stop() {
  if (control_) co_await control_->stop();
  if (scheduler_) co_await scheduler_->stop();
  if (controllers_) co_await controllers_->stop();
  if (simulator_) co_await simulator_->stop();
  if (mirrors_) co_await mirrors_->stop();
  if (nodes_) co_await nodes_->stop();
  if (front_) co_await front_->drain(1s);
  if (custom_resources_) co_await custom_resources_->stop();
  if (api_) co_await api_->stop();
  if (webhooks_) co_await webhooks_->stop();
  if (store_) co_await store_->close();
  front_.reset();
  control_.reset();
  if (!lock_) co_return;  // the files belong to another process
  (void)remove_file(options_.directories.control_socket());
  (void)remove_file(options_.directories.running());
}

Result<void> Cluster::take_place() {
  const ClusterDirectories& directories = options_.directories;
  PLIM_CHECK(make_private(directories.run));
  PLIM_TRY(lock_, take_lock(directories));
  PLIM_CHECK(make_private(directories.state));
  json::value running = json::object{{"stateDirectory", directories.state},
                                     {"pid", static_cast<std::int64_t>(::getpid())}};
  constexpr WriteOptions kMayVanish{.mode = 0600, .sync = false};
  return write_file(directories.running(), to_json(running), kMayVanish);
}

Result<void> Cluster::open_store() {
  store::StoreOptions options{.directory = options_.directories.store(),
                              .durability = options_.durability,
                              .max_live_bytes = options_.max_objects_bytes};
  PLIM_TRY(store_, store::Store::open(loop_, clock_, std::move(options)));
  return {};
}

Result<void> Cluster::listen() {
  FrontAddress address;
  if (options_.listen) {
    address = *options_.listen;
  } else {
    address.port = remembered_port(options_.directories.endpoints());
  }
  auto front = listen_in_front(loop_, *api_, keys_, address);
  if (!front)
    return front.error().with_context(
        fmt::format("cannot listen on {} port {}", address.host, address.port));
  front_ = std::move(*front);
  url_ = fmt::format("https://{}", front_->address());
  return {};
}

Result<void> Cluster::write_files() {
  const ClusterDirectories& directories = options_.directories;
  constexpr WriteOptions kPrivate{.mode = 0600, .sync = false};
  KubeconfigEntry admin{.name = context_name(directories),
                        .server = url_,
                        .ca_pem = keys_.authority.certificate_pem,
                        .client = keys_.admin};
  PLIM_CHECK(write_file(options_.kubeconfig, kubeconfig_text(admin), kPrivate));
  if (!options_.merge_into.empty()) PLIM_CHECK(merge_kubeconfig(options_.merge_into, admin));
  KubeconfigEntry placing = admin;
  placing.client = keys_.scheduler;
  PLIM_CHECK(
      write_file(directories.state + "/scheduler.kubeconfig", kubeconfig_text(placing), kPrivate));
  json::object endpoints{
      {"api", url_}, {"kubeconfig", options_.kubeconfig}, {"runDirectory", directories.run}};
  if (!options_.merge_into.empty()) endpoints["mergedInto"] = options_.merge_into;
  return write_file(directories.endpoints(), to_json_indented(endpoints) + "\n", kPrivate);
}

void Cluster::start_controllers() {
  if (!options_.controllers.empty()) {
    controllers::ControllersOptions options;
    options.enabled = options_.controllers;
    options.root_ca_pem = keys_.authority.certificate_pem;
    controllers_ = std::make_unique<controllers::Controllers>(loop_, api_->client(kControllersUser),
                                                              clock_, std::move(options));
    controllers_->start();
  }
  if (!options_.scheduler) return;
  scheduler_ =
      std::make_unique<controllers::PodScheduler>(loop_, api_->client(kSchedulerUser), clock_);
  scheduler_->start();
}

Task<Result<void>> Cluster::start_nodes() {
  options_.nodes.api_url = url_;
  MirrorPods::Image image{.name = "plimsoll", .id = ""};
  if (options_.nodes.catalog) {
    const images::Image& own = *options_.nodes.catalog->built_in().back();
    image = {.name = own.name,
             .id = fmt::format("{}@{}", images::image_repository(own.name), own.digest)};
  }
  mirrors_ =
      std::make_unique<MirrorPods>(loop_, clock_, api_->client(kMirrorUser), std::move(image));
  mirrors_->start();
  options_.nodes.mirrors = mirrors_.get();
  nodes_ = std::make_unique<ClusterNodes>(loop_, clock_, *api_, keys_, options_.directories,
                                          options_.nodes);
  PLIM_CO_CHECK(co_await nodes_->start());
  if (nodes_->size() == 0) co_return Result<void>();
  reached(fmt::format("{} nodes Ready", nodes_->size()));
  if (std::string why = nodes_->without_cgroups(); !why.empty())
    reached(fmt::format("pods run without cgroups: {}", why));
  co_return Result<void>();
}

// Runs without simulated nodes too: a Node created later with the right annotation gets simulated.
Task<Result<void>> Cluster::start_simulator() {
  sim::SimulatorOptions options;
  options.nodes = options_.simulated_nodes;
  options.stages = options_.stages;
  options.catalog = options_.nodes.catalog;
  options.pulls = options_.nodes.pulls;
  options.max_images = options_.nodes.max_images;
  simulator_ = std::make_unique<sim::Simulator>(loop_, api_->client(kSimulatorUser), clock_,
                                                std::move(options));
  PLIM_CO_CHECK(co_await simulator_->start());
  if (simulator_->nodes() > 0) reached(fmt::format("{} simulated nodes", simulator_->nodes()));
  co_return Result<void>();
}

Task<json::value> Cluster::status() {
  store::StoreStats store = store_->stats();
  double ready = std::chrono::duration<double>(ready_after_).count();
  json::object out{{"name", options_.directories.name},
                   {"pid", static_cast<std::int64_t>(::getpid())},
                   {"server", url_},
                   {"kubeconfig", options_.kubeconfig},
                   {"stateDirectory", options_.directories.state},
                   {"runDirectory", options_.directories.run},
                   {"startedAt", format_rfc3339(started_)},
                   {"readyAfterSeconds", ready},
                   {"connections", front_->connections()},
                   {"nodes", nodes_->size()},
                   {"simulatedNodes", simulator_->nodes()},
                   {"store",
                    {{"revision", store.revision},
                     {"objects", store.entries},
                     {"bytes", store.live_bytes},
                     {"logBytes", store.log_bytes},
                     {"watchers", store.watchers}}}};
  co_return out;
}

void Cluster::reached(std::string what) {
  Nanos after = clock_.steady() - options_.began;
  log::info("up", what, {{"after_ms", after.count() / 1'000'000}});
  if (options_.milestone) options_.milestone(std::move(what), after);
}

}  // namespace plim::local::cluster
