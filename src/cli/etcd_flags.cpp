#include "cli/etcd_flags.hpp"

#include <array>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/failures.hpp"

namespace plim::cli {

Outcome<kube::EtcdOptions> etcd_options(const Context& context) {
  kube::EtcdOptions out;
  for (const std::string_view url : split(context.values.text("etcd-endpoints"), ','))
    if (!trim(url).empty()) out.endpoints.emplace_back(trim(url));
  const std::array<std::pair<std::string_view, std::string*>, 3> files{
      {{"etcd-cacert", &out.tls.ca_pem},
       {"etcd-cert", &out.tls.certificate_pem},
       {"etcd-key", &out.tls.key_pem}}};
  for (const auto& [flag, text] : files) {
    const std::string& path = context.values.text(flag);
    if (path.empty()) continue;
    auto read = read_file(path);
    if (!read) return tl::unexpected(file_failure(Plm::cannot_read, read.error()));
    *text = std::move(*read);
  }
  return out;
}

}  // namespace plim::cli
