#include "cli/webhook_settings.hpp"

#include <array>
#include <utility>

#include "cli/cluster_access.hpp"
#include "cli/pool_places.hpp"
#include "cli/servo_settings.hpp"
#include "cli/webhook_certs.hpp"

namespace plim::cli {
namespace {

template <class T, std::size_t N>
T choice_of(const std::string& text, const std::array<std::pair<std::string_view, T>, N>& rows) {
  for (const auto& [name, value] : rows)
    if (name == text) return value;
  return rows[0].second;  // the table of commands rejects other values
}

pools::MutateOptions mutate_options(const Values& values) {
  using pools::CfsQuotas, pools::StarterDelivery, pools::UnknownPool;
  constexpr std::array<std::pair<std::string_view, CfsQuotas>, 3> kQuotas{
      {{"all", CfsQuotas::all}, {"shared", CfsQuotas::shared}, {"none", CfsQuotas::none}}};
  constexpr std::array<std::pair<std::string_view, StarterDelivery>, 2> kDeliveries{
      {{"hostpath", StarterDelivery::hostpath}, {"plugin", StarterDelivery::plugin}}};
  constexpr std::array<std::pair<std::string_view, UnknownPool>, 3> kUnknown{
      {{"warn", UnknownPool::warn},
       {"reject", UnknownPool::reject},
       {"allow", UnknownPool::allow}}};
  return {.starter_path = values.text("process-starter-path"),
          .cfs_quotas = choice_of(values.text("cfs-quotas"), kQuotas),
          .smt_width = static_cast<int>(values.integer("smt-width")),
          .delivery = choice_of(values.text("starter-delivery"), kDeliveries),
          .unknown_pool = choice_of(values.text("unknown-pool"), kUnknown)};
}

Failure bad_variable(const Error& error) {
  return Failure{.code = Plm::bad_environment, .exit = 1, .what = error.message};
}

Outcome<void> read_servo_part(const Context& context, roles::WebhookSettings& out) {
  const servo::GetSetting get = servo_setting(context);
  auto jobs = servo::read_job_rules(get);
  if (!jobs) return tl::unexpected(bad_variable(jobs.error()));
  auto monitor = servo::read_monitor(get);
  if (!monitor) return tl::unexpected(bad_variable(monitor.error()));
  out.jobs = std::move(*jobs);
  out.monitor = std::move(*monitor);
  return {};
}

}  // namespace

Outcome<roles::WebhookSettings> webhook_settings(const Context& context) {
  const Values& values = context.values;
  roles::WebhookSettings out{
      .certificate = {values.text("tls-cert-file"), values.text("tls-private-key-file")},
      .ns = cert_settings(context).ns,
      .service = values.text("service"),
      .listen = values.text("listen"),
      .pools = {},
      .mutate = mutate_options(values),
      .jobs = {},
      .monitor = {}};
  if (values.boolean("self-signed")) {
    out.self_signed = cert_settings(context);
    out.self_signed->lease = values.text("lease");
  } else if (out.certificate.certificate.empty() || out.certificate.key.empty()) {
    return usage_failure(Plm::wrong_arguments,
                         "webhook needs --tls-cert-file and --tls-private-key-file",
                         "or --self-signed; API servers call webhooks only through HTTPS");
  }
  if (out.mutate.smt_width < 1 || out.mutate.smt_width > 8)
    return usage_failure(Plm::bad_flag_value, "--smt-width: expected a number from 1 to 8");
  if (!out.mutate.starter_path.starts_with('/'))
    return usage_failure(Plm::bad_flag_value, "--process-starter-path: expected an absolute path");
  PLIM_CLI_TRY(out.pools, pool_places(values));
  PLIM_CLI_CHECK(read_servo_part(context, out));
  if (out.self_signed || !out.pools.maps.empty() || values.given("kubeconfig")) {
    PLIM_CLI_TRY(out.cluster, cluster_config(context));
  } else if (context.world.env("KUBERNETES_SERVICE_HOST")) {
    // The cluster receives events. A pod without a token runs without it.
    if (auto config = cluster_config(context)) out.cluster = std::move(*config);
  }
  return out;
}

}  // namespace plim::cli
