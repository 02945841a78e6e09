#include "sched/service.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "kube/paths.hpp"
#include "sched/explain.hpp"

namespace plim::sched {
namespace {

constexpr std::size_t kNamedRefusals = 3;  // rejected nodes to name per reason
// As in kube-scheduler: counted from the end of the lease, so that a lost lease usually ends the
// process first.
constexpr std::chrono::seconds kOverdue{20};

// A profile that reads inventories from etcd needs its endpoints.
Result<void> check_inventories(const Configuration& config, bool has_etcd) {
  for (const auto& one : config.profiles)
    if (one.profile.locality.inventory == InventorySource::Etcd && !has_etcd)
      return fail(Code::invalid,
                  fmt::format("profile {}: inventory Etcd of ImageLocality needs --etcd-endpoints",
                              one.profile.scheduler_name));
  return {};
}

std::chrono::seconds whole_seconds(Nanos duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration);
}

}  // namespace

Service::Service(const Executor& loop, ServiceOptions options, metrics::Registry& registry,
                 std::function<void()> on_lost)
    : loop_(loop),
      options_(std::move(options)),
      registry_(registry),
      on_lost_(std::move(on_lost)),
      tasks_(loop) {}

ExplainRecord Service::record_of(const DecisionNote& note) const {
  const std::size_t samples =
      options_.daemon.explain_all_nodes ? note.engine->node_count() : kNamedRefusals;
  ExplainRecord out =
      describe_decision(*note.engine, *note.pod, *note.profile, *note.decision, samples);
  if (note.post_filter != nullptr) describe_post_filter(*note.post_filter, out);
  out.attempt = note.attempt;
  out.started = note.started;
  out.took = note.took;
  return out;
}

Result<void> Service::start() {
  const ElectionConfig& election = options_.daemon.config->election;
  if (election.elect &&
      (whole_seconds(election.lease_duration) <= whole_seconds(election.renew_deadline) ||
       whole_seconds(election.renew_deadline) <= whole_seconds(election.retry_period)))
    return fail(Code::invalid,
                "leader election: the lease must be longer than the deadline of renewals, and that "
                "longer than the retry period, in whole seconds");
  PLIM_TRY(options_.daemon.extenders, make_extenders(loop_, options_.daemon.config->extenders));
  PLIM_CHECK(check_inventories(*options_.daemon.config, options_.etcd.has_value()));
  if (options_.etcd) {
    PLIM_TRY(options_.daemon.etcd.client, kube::EtcdClient::create(loop_, *options_.etcd));
  }
  PLIM_TRY(client_, kube::Client::create(loop_, options_.cluster));
  PLIM_TRY(event_client_, kube::Client::create(loop_, options_.cluster));
  PLIM_TRY(lease_client_, kube::Client::create(loop_, options_.cluster));
  review_clients_ = {.tokens = client_, .rights = client_};
  if (options_.token_cluster) {
    PLIM_TRY(review_clients_.tokens, kube::Client::create(loop_, *options_.token_cluster));
  }
  if (options_.rights_cluster) {
    PLIM_TRY(review_clients_.rights, kube::Client::create(loop_, *options_.rights_cluster));
  }
  daemon_ = std::make_unique<Daemon>(loop_, options_.daemon, client_, event_client_, registry_);
  daemon_->on_decision([this](const DecisionNote& note) { decisions_.add(record_of(note)); });
  reload_success_ = &registry_.gauge("plimsoll_scheduler_config_reload_success", "");
  if (!options_.address.empty()) {
    PLIM_CHECK(listen());
  }
  if (!options_.daemon.config->delay_cache_until_active || !election.elect) daemon_->start();
  if (election.elect) {
    start_election();
  } else {
    leading_ = true;
    daemon_->lead();
  }
  return {};
}

Result<void> Service::listen() {
  if (!options_.tls) {
    PLIM_TRY(options_.tls, self_signed_tls(options_.daemon.host));
  }
  SecureServerOptions server{
      .address = options_.address,
      .tls = *options_.tls,
      .review = options_.review,
      .checks = {},
      .configuration =
          [this] {
            return to_json(
                json::object{{"componentconfig", write_configuration(daemon_->config())}});
          },
      .set_verbosity = [this](int level) { daemon_->set_verbosity(level); },
      .before_metrics = [this] { daemon_->update_sizes(); },
      .pod_resources = [this] { return daemon_->pod_resources(); },
      .explain =
          [this](const net::Request& request) {
            return answer_explain(decisions_, request, [this](const ExplainRing::Wanted& wanted) {
              return daemon_->explain_now(wanted.ns, wanted.pod, wanted.uid);
            });
          }};
  // Fails if the lease expired long ago and the election has not noticed it.
  server.checks.push_back({.name = "leaderElection", .good = [this] {
                             return !elector_ || !elector_->is_overdue(kOverdue);
                           }});
  server.checks.push_back({.name = "sched-handler-sync",
                           .good =
                               [this] {
                                 const bool waits =
                                     options_.daemon.config->delay_cache_until_active && !leading_;
                                 return waits || daemon_->synced();
                               },
                           .for_ready_only = true});
  server.checks.push_back(
      {.name = "shutdown", .good = [this] { return !stopping_; }, .for_ready_only = true});
  PLIM_TRY(server_, SecureServer::listen(loop_, std::move(server), review_clients_, registry_));
  if (options_.lookup_client_ca && options_.tls->client_ca_pem.empty())
    tasks_.spawn("client authority", lookup_client_ca());
  return {};
}

// Lets users and Prometheus authenticate with certificates of the cluster's authority.
Task<void> Service::lookup_client_ca() {
  kube::ObjectPath path{.ns = "kube-system", .name = "extension-apiserver-authentication"};
  auto found = co_await review_clients_.tokens->get(kube::resources::config_maps, path);
  if (!found) co_return;
  options_.tls->client_ca_pem = kube::text_at(*found, "ConfigMap.data.client-ca-file");
  if (options_.tls->client_ca_pem.empty()) co_return;
  auto set = server_->set_tls(*options_.tls);
  if (!set) log::warn("scheduler", "cannot accept client certificates", {{"error", set.error()}});
}

void Service::start_election() {
  const ElectionConfig& election = options_.daemon.config->election;
  kube::ElectionOptions lease{.ns = election.ns,
                              .name = election.name,
                              .identity = fmt::format("{}_{}", options_.daemon.host, make_uuid()),
                              .lease_duration = whole_seconds(election.lease_duration),
                              .renew_deadline = whole_seconds(election.renew_deadline),
                              .retry_period = whole_seconds(election.retry_period)};
  kube::LeaderElector::Callbacks callbacks{.on_started =
                                               [this] {
                                                 leading_ = true;
                                                 daemon_->start();
                                                 daemon_->lead();
                                                 record_leader_change("became leader");
                                               },
                                           .on_stopped =
                                               [this] {
                                                 leading_ = false;
                                                 daemon_->stop_leading();
                                                 record_leader_change("stopped leading");
                                                 if (!stopping_) on_lost_();
                                               },
                                           .on_new_leader =
                                               [](const std::string& identity) {
                                                 log::info("scheduler", "leader",
                                                           {{"identity", identity}});
                                               }};
  elector_ = std::make_unique<kube::LeaderElector>(loop_, lease_client_, std::move(lease),
                                                   std::move(callbacks));
  elector_->start();
}

void Service::record_leader_change(std::string_view what) {
  daemon_->lease_events().leader_changed(elector_->lease_uid(),
                                         fmt::format("{} {}", elector_->identity(), what));
}

Task<void> Service::stop() {
  stopping_ = true;
  if (daemon_) daemon_->stop_leading();
  if (elector_) co_await elector_->stop();
  co_await tasks_.stop();
  if (daemon_) co_await daemon_->stop();
  if (server_) co_await server_->drain();
}

void Service::reload(Result<ConfigRead> read) {
  if (read)
    if (auto checked = check_inventories(read->config, options_.etcd.has_value()); !checked)
      read = Result<ConfigRead>(checked.error());
  Result<std::shared_ptr<const ExtenderList>> extenders;
  if (read)
    extenders = make_extenders(loop_, read->config.extenders);
  else
    extenders = read.error();
  reload_success_->set(extenders ? 1 : 0);
  if (!extenders) {
    log::error("scheduler", "cannot use the new configuration, keeping the old one",
               {{"error", extenders.error()}});
    daemon_->lease_events().warn("ConfigReloadFailed", extenders.error().message);
    return;
  }
  for (const std::string& line : read->warnings) log::warn("scheduler", line);
  auto config = std::make_shared<Configuration>(std::move(read->config));
  // These two cannot change while the process runs.
  config->election = daemon_->config().election;
  config->client = daemon_->config().client;
  daemon_->set_config(std::move(config), std::move(*extenders));
  log::info("scheduler", "configuration reread");
}

}  // namespace plim::sched
