#include "kube/kubeconfig.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"
#include "kube/field_reader.hpp"
#include "net/url.hpp"

namespace plim::kube {
namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

std::string beside(std::string_view file, std::string name) {
  if (name.empty() || name.starts_with('/')) return name;
  return (std::filesystem::path(file).parent_path() / name).lexically_normal().string();
}

Result<std::string> decoded(const FieldReader& from, std::string_view key) {
  PLIM_TRY(const std::string text, from.text(key));
  auto bytes = base64_decode(text);
  if (!bytes) return from.error(key, "expected base64");
  return bytes;
}

// Like kubectl, accepts a file with invalid addresses as long as they are not used.
void check_addresses(const FieldReader& from, KubeconfigCluster& cluster) {
  if (!cluster.server.empty())
    if (auto url = net::parse_url(cluster.server); !url)
      cluster.server_problem = from.error("server", url.error().message);
  if (cluster.proxy_url.empty()) return;
  if (auto url = net::parse_url(cluster.proxy_url); !url)
    cluster.proxy_problem = from.error("proxy-url", url.error().message);
  else if (url->scheme != net::Url::Scheme::http)
    cluster.proxy_problem = from.error("proxy-url", "only http:// proxies are supported");
}

Result<KubeconfigCluster> read_cluster(const FieldReader& from, std::string_view file) {
  KubeconfigCluster out;
  PLIM_TRY(out.server, from.text("server"));
  PLIM_TRY(out.tls_server_name, from.text("tls-server-name"));
  PLIM_TRY(out.proxy_url, from.text("proxy-url"));
  check_addresses(from, out);
  PLIM_TRY(out.insecure, from.flag("insecure-skip-tls-verify"));
  PLIM_TRY(out.ca_data, decoded(from, "certificate-authority-data"));
  PLIM_TRY(std::string ca, from.text("certificate-authority"));
  out.ca_file = beside(file, std::move(ca));
  PLIM_TRY(auto extensions, from.list("extensions"));
  for (const FieldReader& item : extensions) {
    PLIM_TRY(const std::string name, item.text("name"));
    if (const json::value* value = item.value("extension"); value && name == kExecExtension)
      out.exec_config = to_json(*value);
  }
  return out;
}

Result<ExecPlugin> read_exec(const FieldReader& from, std::string_view file) {
  ExecPlugin out;
  PLIM_TRY(out.api_version, from.text("apiVersion"));
  PLIM_TRY(out.command, from.text("command"));
  if (out.command.find('/') != std::string::npos) out.command = beside(file, out.command);
  PLIM_TRY(out.args, from.texts("args"));
  PLIM_TRY(auto env, from.list("env"));
  for (const FieldReader& item : env) {
    PLIM_TRY(std::string name, item.text("name"));
    if (name.empty()) return item.error("name", "expected the name of a variable");
    PLIM_TRY(std::string value, item.text("value"));
    out.env.emplace_back(std::move(name), std::move(value));
  }
  PLIM_TRY(out.install_hint, from.text("installHint"));
  PLIM_TRY(out.provide_cluster_info, from.flag("provideClusterInfo"));
  PLIM_TRY(out.interactive_mode, from.text("interactiveMode"));
  return out;
}

Result<KubeconfigUser> read_user(const FieldReader& from, std::string_view file) {
  KubeconfigUser out;
  PLIM_TRY(out.certificate_data, decoded(from, "client-certificate-data"));
  PLIM_TRY(out.key_data, decoded(from, "client-key-data"));
  PLIM_TRY(std::string certificate, from.text("client-certificate"));
  out.certificate_file = beside(file, std::move(certificate));
  PLIM_TRY(std::string key, from.text("client-key"));
  out.key_file = beside(file, std::move(key));
  PLIM_TRY(out.token, from.text("token"));
  PLIM_TRY(std::string token_file, from.text("tokenFile"));
  out.token_file = beside(file, std::move(token_file));
  PLIM_TRY(out.username, from.text("username"));
  PLIM_TRY(out.password, from.text("password"));
  PLIM_TRY(out.as, from.text("as"));
  PLIM_TRY(out.as_uid, from.text("as-uid"));
  PLIM_TRY(out.as_groups, from.texts("as-groups"));
  PLIM_TRY(const FieldReader extra, from.object("as-user-extra"));
  for (const std::string& name : extra.keys()) {
    PLIM_TRY(auto values, extra.texts(name));
    for (std::string& value : values) out.as_extra.emplace_back(name, std::move(value));
  }
  if (from.value("auth-provider")) {
    PLIM_TRY(const FieldReader provider, from.object("auth-provider"));
    PLIM_TRY(out.auth_provider, provider.text("name"));
    if (out.auth_provider.empty()) out.auth_provider = "unnamed";
  }
  if (from.value("exec")) {
    PLIM_TRY(const FieldReader exec, from.object("exec"));
    PLIM_TRY(out.exec, read_exec(exec, file));
  }
  return out;
}

Result<KubeconfigContext> read_context(const FieldReader& from, std::string_view) {
  KubeconfigContext out;
  PLIM_TRY(out.cluster, from.text("cluster"));
  PLIM_TRY(out.user, from.text("user"));
  PLIM_TRY(out.ns, from.text("namespace"));
  return out;
}

template <class T>
Result<Named<T>> read_named(const FieldReader& root, std::string_view list, std::string_view inner,
                            std::string_view file,
                            Result<T> (*read)(const FieldReader&, std::string_view)) {
  Named<T> out;
  PLIM_TRY(auto items, root.list(list));
  for (const FieldReader& item : items) {
    PLIM_TRY(std::string name, item.text("name"));
    PLIM_TRY(const FieldReader body, item.object(inner));
    PLIM_TRY(T entry, read(body, file));
    const auto [place, is_new] = out.try_emplace(std::move(name), std::move(entry));
    if (!is_new) return item.error("name", fmt::format("\"{}\" occurs twice", place->first));
  }
  return out;
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, std::string_view file,
                                    std::string_view shown) {
  // If a key occurs several times, kubectl uses the last one. Accept such files too.
  const YamlOptions options{.duplicate_keys = DuplicateKeys::last_wins};
  PLIM_TRY(const YamlDocument document, parse_yaml_document(text, shown, options));
  PLIM_TRY(const FieldReader root, FieldReader::root_of(document));
  Kubeconfig out;
  PLIM_TRY(const std::string version, root.text("apiVersion"));
  if (!version.empty() && version != "v1") return root.error("apiVersion", "expected v1");
  PLIM_TRY(const std::string kind, root.text("kind"));
  if (!kind.empty() && kind != "Config") return root.error("kind", "expected Config");
  PLIM_TRY(out.current_context, root.text("current-context"));
  PLIM_TRY(out.clusters, read_named(root, "clusters", "cluster", file, read_cluster));
  PLIM_TRY(out.users, read_named(root, "users", "user", file, read_user));
  PLIM_TRY(out.contexts, read_named(root, "contexts", "context", file, read_context));
  return out;
}

void merge(Kubeconfig& into, Kubeconfig later) {
  if (into.current_context.empty()) into.current_context = std::move(later.current_context);
  into.clusters.merge(later.clusters);
  into.users.merge(later.users);
  into.contexts.merge(later.contexts);
}

}  // namespace plim::kube
