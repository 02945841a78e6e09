#include "kube/config.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "kube/exec_plugin.hpp"
#include "kube/kubeconfig.hpp"
#include "net/loopback_hosts.hpp"
#include "net/url.hpp"

namespace plim::kube {
namespace {

constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

constexpr std::string_view kSendWithoutTls = "PLIMSOLL_CREDENTIALS_WITHOUT_TLS";

constexpr std::string_view kNothingConfigured =
    "no cluster is configured: there is no kubeconfig and this is not a pod; "
    "set KUBECONFIG, pass --kubeconfig, or create ~/.kube/config";

// The files to read, and their names in messages.
struct Files {
  std::vector<std::string> paths;
  bool must_exist = false;
  std::string home;

  std::string shown(std::string_view path) const {
    if (home.size() > 1 && path.starts_with(home) && path.substr(home.size()).starts_with('/'))
      return fmt::format("~{}", path.substr(home.size()));
    return std::string(path);
  }
};

Files find_files(const ConfigOverrides& overrides, const GetEnv& getenv) {
  Files out;
  out.home = getenv("HOME").value_or("");
  if (!overrides.kubeconfig.empty()) {
    out.paths = {overrides.kubeconfig};
    out.must_exist = true;
    return out;
  }
  const std::string list = getenv("KUBECONFIG").value_or("");
  for (std::string_view path : split(list, ':'))
    if (!path.empty()) out.paths.emplace_back(path);
  if (list.empty() && !out.home.empty()) out.paths = {out.home + "/.kube/config"};
  return out;
}

Result<Kubeconfig> load_files(const Files& files) {
  Kubeconfig merged;
  for (const std::string& path : files.paths) {
    std::error_code ignored;
    const std::string absolute = std::filesystem::absolute(path, ignored).string();
    auto text = read_file(absolute);
    if (!text && text.error().code == Code::not_found && !files.must_exist) continue;
    if (!text) return text.error().with_context("kubeconfig");
    PLIM_TRY(Kubeconfig one, parse_kubeconfig(*text, absolute, files.shown(path)));
    merge(merged, std::move(one));
  }
  return merged;
}

// A hint such as " (there are: dev, prod)"; empty if there are no entries.
template <class T>
std::string choices(const Named<T>& entries) {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : entries) names.push_back(name);
  if (names.empty()) return "";
  return fmt::format(" (there are: {})", fmt::join(names, ", "));
}

template <class T>
Result<T> chosen(const Named<T>& entries, std::string_view kind, std::string_view name) {
  if (auto it = entries.find(name); it != entries.end()) return it->second;
  return fail(Code::not_found,
              fmt::format("{} \"{}\" does not exist{}", kind, name, choices(entries)));
}

// Inline data takes precedence over the file.
Result<std::string> data_or_file(std::string data, const std::string& file, std::string_view what) {
  if (!data.empty() || file.empty()) return data;
  auto text = read_file(file);
  if (!text) return text.error().with_context(what);
  return text;
}

Result<void> apply_cluster(Config& config, const KubeconfigCluster& cluster,
                           std::string_view name) {
  const std::string what = fmt::format("cluster \"{}\"", name);
  if (config.server.empty()) {
    if (cluster.server_problem) return *cluster.server_problem;
    config.server = cluster.server;
  }
  if (config.server.empty()) return fail(Code::invalid, what + ": server is missing");
  if (cluster.proxy_problem) return *cluster.proxy_problem;
  config.tls.server_name = cluster.tls_server_name;
  config.tls.insecure = cluster.insecure;
  config.proxy = cluster.proxy_url;
  PLIM_TRY(config.tls.ca_pem,
           data_or_file(cluster.ca_data, cluster.ca_file, what + ": certificate-authority"));
  if (!cluster.insecure) return {};
  if (!config.tls.ca_pem.empty())
    return fail(Code::invalid,
                what + ": certificate-authority and insecure-skip-tls-verify exclude each other");
  log::warn("kube", "the server's certificate is not verified (insecure-skip-tls-verify)",
            {{"cluster", name}});
  return {};
}

Result<void> apply_user(Config& config, const KubeconfigUser& user, std::string_view name) {
  const std::string what = fmt::format("user \"{}\"", name);
  auto wrong = [&](std::string_view text) {
    return fail(Code::invalid, fmt::format("{}: {}", what, text));
  };
  if (!user.auth_provider.empty())
    return wrong(
        fmt::format("auth-provider \"{}\": Kubernetes 1.26 removed these; use an exec "
                    "plugin instead",
                    user.auth_provider));
  const bool has_basic = !user.username.empty() || !user.password.empty();
  if (has_basic && !user.token.empty())
    return wrong("token and username exclude each other; only one is allowed");
  if (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_extra.empty())
    if (user.as.empty()) return wrong("as-uid, as-groups and as-user-extra need \"as\"");

  PLIM_TRY(config.tls.certificate_pem, data_or_file(user.certificate_data, user.certificate_file,
                                                    what + ": client-certificate"));
  PLIM_TRY(config.tls.key_pem, data_or_file(user.key_data, user.key_file, what + ": client-key"));
  if (config.tls.certificate_pem.empty() != config.tls.key_pem.empty())
    return wrong("client-certificate and client-key need each other");
  if (user.exec) {
    if (auto valid = check_exec_plugin(*user.exec); !valid) return valid.error().with_context(what);
    config.exec = user.exec;
  }
  config.token = user.token;
  config.token_file = user.token_file;
  config.username = user.username;
  config.password = user.password;
  config.impersonate_user = user.as;
  config.impersonate_uid = user.as_uid;
  config.impersonate_groups = user.as_groups;
  config.impersonate_extra = user.as_extra;
  return {};
}

// client-go sends no credentials without TLS. We say so, instead of asking as system:anonymous.
Result<void> check_transport(const Config& config, const GetEnv& getenv) {
  const bool has_secret = !config.token.empty() || !config.token_file.empty() ||
                          !config.password.empty() || config.exec.has_value();
  if (!has_secret) return {};
  const auto url = net::parse_url(config.server);
  if (!url || url->scheme != net::Url::Scheme::http || net::is_loopback_host(url->host)) return {};
  if (getenv(kSendWithoutTls).value_or("") == "1") return {};
  return fail(Code::invalid,
              fmt::format("{} is not an https:// address, so everybody on the way could read the "
                          "credentials of the kubeconfig; use https://, or set {}=1 to send them",
                          net::without_credentials(config.server), kSendWithoutTls));
}

Result<Config> resolve(const Kubeconfig& from, const ConfigOverrides& overrides, const Files& files,
                       const GetEnv& getenv) {
  Config config;
  config.server = overrides.server;
  const std::string& name = overrides.context.empty() ? from.current_context : overrides.context;
  KubeconfigContext context;
  if (!name.empty()) {
    PLIM_TRY(context, chosen(from.contexts, "context", name));
  }
  if (!overrides.cluster.empty()) context.cluster = overrides.cluster;
  if (!overrides.user.empty()) context.user = overrides.user;
  if (!overrides.ns.empty()) context.ns = overrides.ns;
  if (!context.ns.empty()) config.ns = context.ns;

  KubeconfigCluster cluster;
  if (!context.cluster.empty()) {
    PLIM_TRY(cluster, chosen(from.clusters, "cluster", context.cluster));
  } else if (config.server.empty()) {
    if (name.empty())
      return fail(Code::invalid,
                  fmt::format("no current context is set; choose one with --context or "
                              "\"kubectl config use-context\"{}",
                              choices(from.contexts)));
    return fail(Code::invalid, fmt::format("context \"{}\" has no cluster", name));
  }
  PLIM_CHECK(apply_cluster(config, cluster, context.cluster));
  if (!context.user.empty()) {
    PLIM_TRY(const KubeconfigUser user, chosen(from.users, "user", context.user));
    PLIM_CHECK(apply_user(config, user, context.user));
    if (config.exec) config.exec->cluster_config = cluster.exec_config;
  }
  PLIM_CHECK(check_transport(config, getenv));

  std::vector<std::string> shown;
  for (const std::string& path : files.paths) shown.push_back(files.shown(path));
  config.source = name.empty() ? fmt::format("{}", fmt::join(shown, ", "))
                               : fmt::format("context {} of {}", name, fmt::join(shown, ", "));
  return config;
}

}  // namespace

std::optional<std::string> process_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value) return std::nullopt;
  return value;
}

Result<Kubeconfig> load_kubeconfig(const ConfigOverrides& overrides, const GetEnv& getenv) {
  return load_files(find_files(overrides, getenv));
}

Result<Config> load_config(const ConfigOverrides& overrides, const GetEnv& getenv) {
  const Files files = find_files(overrides, getenv);
  PLIM_TRY(const Kubeconfig merged, load_files(files));
  const bool asks_for_entry = !overrides.context.empty() || !overrides.cluster.empty() ||
                              !overrides.user.empty() || !overrides.server.empty();
  if (!merged.empty() || files.must_exist || asks_for_entry)
    return resolve(merged, overrides, files, getenv);

  auto in_cluster = in_cluster_config(getenv);
  if (!in_cluster && in_cluster.error().code == Code::not_found)
    return fail(Code::not_found, std::string(kNothingConfigured));
  if (in_cluster && !overrides.ns.empty()) in_cluster->ns = overrides.ns;
  return in_cluster;
}

Result<Config> in_cluster_config(const GetEnv& getenv, std::string_view root) {
  const std::string host = getenv("KUBERNETES_SERVICE_HOST").value_or("");
  const std::string port = getenv("KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty())
    return fail(Code::not_found,
                "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  Config config;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  config.server = fmt::format("https://{}:{}", is_ipv6 ? '[' + host + ']' : host, port);
  const std::string directory = fmt::format("{}{}", root, kServiceAccount);
  config.token_file = directory + "/token";
  auto token = read_file(config.token_file);
  if (!token) {  // not Code::not_found, which means "not in a pod": this pod mounts no token
    Error error = token.error().with_context("service account");
    error.code = Code::unauthorized;
    return error;
  }
  PLIM_TRY(config.tls.ca_pem, data_or_file("", directory + "/ca.crt", "service account"));
  if (auto ns = read_file(directory + "/namespace"); ns && !trim(*ns).empty())
    config.ns = trim(*ns);
  config.source = "the service account of this pod";
  return config;
}

}  // namespace plim::kube
