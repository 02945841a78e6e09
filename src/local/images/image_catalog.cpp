#include "local/images/image_catalog.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/json_pointer.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "net/x509.hpp"

namespace plim::local::images {
namespace {

constexpr std::array<std::int64_t, 3> kUnknownLayers{60'000'000, 30'000'000, 10'000'000};

std::string digest_of(std::string_view text) {
  return "sha256:" + net::sha256_hex(text);
}

// The digest depends on the layers, so equal images have equal digests.
std::string manifest_digest(const Image& image) {
  std::string text = image.name;
  for (const Layer& layer : image.layers) text += fmt::format("\n{} {}", layer.digest, layer.bytes);
  return digest_of(text);
}

Image unknown_image(std::string name, std::string_view digest) {
  Image out;
  for (std::size_t i = 0; i < kUnknownLayers.size(); ++i)
    out.layers.push_back({digest_of(fmt::format("{} {}", name, i)), kUnknownLayers[i]});
  out.name = std::move(name);
  out.digest = digest.empty() ? manifest_digest(out) : std::string(digest);
  return out;
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    for (std::size_t skipped = 0; skipped <= name.size(); ++skipped)
      if (matches(pattern.substr(1), name.substr(skipped))) return true;
    return false;
  }
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matches(pattern.substr(1), name.substr(1));
}

bool is_costly(const std::string& pattern) {
  return std::ranges::count(pattern, '*') > 3;
}

// Reads one entry of the file; errors have line and column.
class Reader {
 public:
  explicit Reader(const YamlDocument& document) : document_(document) {}

  Result<void> only(const json::value& value, const std::string& at,
                    std::initializer_list<std::string_view> known) const {
    if (!value.is_object()) return document_.error_at(at, "expected a map");
    for (const auto& [key, inner] : value.get_object()) {
      if (std::ranges::find(known, std::string_view(key)) == known.end())
        return document_.error_at_key(child(at, key), fmt::format("unknown field {}", quote(key)));
    }
    return {};
  }

  Result<std::int64_t> bytes(const json::value& value, const std::string& at) const {
    auto amount =
        value.is_string() ? parse_quantity(value.get_string()) : parse_quantity(to_json(value));
    if (!amount || *amount < Quantity())
      return document_.error_at(at, "expected a size such as 700Mi");
    return amount->value();
  }

  Result<std::string> text(const json::value& value, const std::string& at) const {
    if (!value.is_string()) return document_.error_at(at, "expected a string");
    return std::string(value.get_string());
  }

  Result<std::vector<std::string>> texts(const json::value& value, const std::string& at) const {
    if (!value.is_array()) return document_.error_at(at, "expected a list of strings");
    std::vector<std::string> out;
    for (std::size_t i = 0; i < value.get_array().size(); ++i) {
      PLIM_TRY(std::string item, text(value.get_array()[i], child(at, std::to_string(i))));
      out.push_back(std::move(item));
    }
    return out;
  }

  Result<std::vector<Layer>> layers(const json::value& value, const std::string& at) const {
    if (!value.is_array()) return document_.error_at(at, "expected a list of layers");
    std::vector<Layer> out;
    for (std::size_t i = 0; i < value.get_array().size(); ++i) {
      const json::value& item = value.get_array()[i];
      const std::string place = child(at, std::to_string(i));
      PLIM_CHECK(only(item, place, {"digest", "size"}));
      const std::string_view digest = text_at(item, {"digest"});
      const json::value* size = find(item, {"size"});
      if (digest.empty() || !size)
        return document_.error_at(place, "a layer needs digest and size");
      PLIM_TRY(std::int64_t count, bytes(*size, child(place, "size")));
      out.push_back(
          {digest.starts_with("sha256:") ? std::string(digest) : digest_of(digest), count});
    }
    return out;
  }

  Result<void> config(const json::value& value, const std::string& at, Image& out) const {
    PLIM_CHECK(only(value, at, {"entrypoint", "cmd", "env", "workingDir", "stopSignal"}));
    for (const auto& [key, inner] : value.get_object()) {
      const std::string place = child(at, key);
      if (key == "entrypoint") {
        PLIM_TRY(out.entrypoint, texts(inner, place));
      } else if (key == "cmd") {
        PLIM_TRY(out.command, texts(inner, place));
      } else if (key == "workingDir") {
        PLIM_TRY(out.working_dir, text(inner, place));
      } else if (key == "stopSignal") {
        PLIM_TRY(out.stop_signal, text(inner, place));
      } else {
        PLIM_CHECK(environment(inner, place, out));
      }
    }
    return {};
  }

  static std::string child(const std::string& at, std::string_view key) {
    std::string out = at;
    append_step(out, key);
    return out;
  }

 private:
  Result<void> environment(const json::value& value, const std::string& at, Image& out) const {
    if (!value.is_object()) return document_.error_at(at, "expected a map of strings");
    for (const auto& [key, inner] : value.get_object()) {
      PLIM_TRY(std::string made, text(inner, child(at, key)));
      out.env.emplace_back(key, std::move(made));
    }
    return {};
  }

  const YamlDocument& document_;
};

}  // namespace

ImageCatalog::ImageCatalog(Options options) : options_(std::move(options)) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(options_.program, ignored);
  const std::int64_t bytes = ignored ? 0 : static_cast<std::int64_t>(size);
  auto add_own = [&](std::string_view name, std::vector<std::string> entrypoint) {
    Image image{.name = normalise_image(name),
                .digest = {},
                .layers = {{digest_of("plimsoll " + options_.version), bytes}},
                .entrypoint = std::move(entrypoint)};
    image.digest = manifest_digest(image);
    const std::string key = image.name;
    add(std::move(image), 0);
    built_in_.push_back(by_name_.find(key)->second.image);
  };
  add_own("plimsoll/tools", {options_.program, "tools"});
  add_own(options_.version.empty() ? "plimsoll" : fmt::format("plimsoll:{}", options_.version),
          {options_.program});
}

void ImageCatalog::add(Image image, double bytes_per_second) {
  auto made = std::make_shared<const Image>(std::move(image));
  by_name_[fmt::format("{}@{}", image_repository(made->name), made->digest)] = {made,
                                                                                bytes_per_second};
  by_name_[made->name] = {made, bytes_per_second};
}

Result<void> ImageCatalog::add_yaml(std::string_view text, std::string_view source) {
  PLIM_TRY(YamlDocument document, parse_yaml_document(text, source));
  const Reader reader(document);
  if (document.value().is_null()) return {};
  PLIM_CHECK(reader.only(document.value(), "", {"images"}));
  const json::value* images = plim::find(document.value(), {"images"});
  if (!images || images->is_null()) return {};
  if (!images->is_object()) return document.error_at("/images", "expected a map of images");
  for (const auto& [name, entry] : images->get_object()) {
    const std::string at = Reader::child("/images", name);
    Image image{.name = normalise_image(name), .digest = {}, .layers = {}};
    if (image.name.empty())
      return document.error_at_key(at, fmt::format("{} is not a valid image name", quote(name)));
    PLIM_CHECK(
        reader.only(entry, at, {"digest", "layers", "config", "rootfs", "bandwidth", "nodes"}));
    double bandwidth = 0;
    std::vector<std::string> nodes;
    for (const auto& [key, value] : entry.get_object()) {
      const std::string place = Reader::child(at, key);
      if (key == "digest") {
        PLIM_TRY(image.digest, reader.text(value, place));
      } else if (key == "layers") {
        PLIM_TRY(image.layers, reader.layers(value, place));
      } else if (key == "config") {
        PLIM_CHECK(reader.config(value, place, image));
      } else if (key == "rootfs") {
        PLIM_TRY(image.rootfs, reader.text(value, place));
      } else if (key == "nodes") {
        PLIM_TRY(nodes, reader.texts(value, place));
        if (std::ranges::any_of(nodes, is_costly))
          return document.error_at(place, "a pattern may contain at most three *");
      } else {
        PLIM_TRY(std::int64_t bytes, reader.bytes(value, place));
        bandwidth = static_cast<double>(bytes);
      }
    }
    if (image.digest.empty()) image.digest = manifest_digest(image);
    nodes_[image.name] = std::move(nodes);
    add(std::move(image), bandwidth);
  }
  return {};
}

std::vector<std::shared_ptr<const Image>> ImageCatalog::present_on(std::string_view node) const {
  std::vector<std::shared_ptr<const Image>> out;
  for (const auto& [name, patterns] : nodes_)
    if (std::ranges::any_of(patterns, [&](const std::string& one) { return matches(one, node); }))
      out.push_back(by_name_.find(name)->second.image);
  return out;
}

Result<ImageCatalog::Found> ImageCatalog::find(std::string_view name) const {
  std::string wanted = normalise_image(name);
  if (wanted.empty())
    return fail(Code::invalid, fmt::format("{} is not a valid image name", quote(name)));
  if (auto found = by_name_.find(wanted); found != by_name_.end()) return found->second;
  // Any version of our own tools is the built-in one.
  if (image_repository(wanted) == image_repository(built_in_[0]->name)) return Found{built_in_[0]};
  if (options_.policy == ImagePolicy::strict)
    return fail(Code::not_found, fmt::format("image {} is not in the catalog", wanted));
  const std::size_t at = wanted.find('@');
  const std::string digest = at == wanted.npos ? "" : wanted.substr(at + 1);
  return Found{std::make_shared<const Image>(unknown_image(std::move(wanted), digest))};
}

}  // namespace plim::local::images
