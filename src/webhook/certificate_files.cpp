#include "webhook/certificate_files.hpp"

#include <array>
#include <filesystem>
#include <utility>

#include "base/files.hpp"

namespace plim::webhook {
namespace {

namespace fs = std::filesystem;
using Pair = std::pair<std::string, std::string>;

constexpr std::array<std::pair<const char*, const char*>, 2> kStyles{
    {{"cert.pem", "key.pem"}, {"tls.crt", "tls.key"}}};

std::vector<Pair> candidates(const CertificateFiles& files) {
  std::vector<Pair> out{{files.certificate, files.key}};
  for (const auto& [certificate, key] : kStyles)
    out.emplace_back((fs::path(files.certificate).parent_path() / certificate).string(),
                     (fs::path(files.key).parent_path() / key).string());
  return out;
}

}  // namespace

Result<net::ServerTls> CertificateFiles::read() const {
  Pair chosen{certificate, key};
  for (const Pair& pair : candidates(*this)) {
    std::error_code ignored;
    if (!fs::exists(pair.first, ignored) || !fs::exists(pair.second, ignored)) continue;
    chosen = pair;
    break;
  }
  net::ServerTls out;
  PLIM_TRY(out.certificate_pem, read_file(chosen.first));
  PLIM_TRY(out.key_pem, read_file(chosen.second));
  return out;
}

std::vector<std::string> CertificateFiles::paths() const {
  std::vector<std::string> out;
  for (const Pair& pair : candidates(*this)) {
    out.push_back(pair.first);
    out.push_back(pair.second);
  }
  return out;
}

}  // namespace plim::webhook
