// Who holds which image, for `plimsoll images`: from inventories, else from what kubelets report.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

namespace plim::cli {

struct ImageRow {
  std::string node = {}, image = {}, tag = {}, id = {};
  std::int64_t size = 0;
  std::optional<std::int64_t> shared =
      {};  // bytes of its layers that other images of the node have too
  std::size_t layers = 0;
  bool pinned = false;
  std::string source = {};  // "inventory" or "status"
  std::optional<std::chrono::seconds> age = {};

  json::object to_json() const;
  // What makes it another row; age and size of the same image do not.
  std::string key() const;
};

struct LayerRow {
  std::string node = {}, digest = {};
  std::int64_t size = 0;
  std::optional<std::int64_t> fetched = {};  // of one that is being pulled
  std::vector<std::string> images = {};      // that it is part of

  json::object to_json() const;
};

struct ImageFilter {
  std::string node = {}, image = {};  // "": all
};

// What --image means: a repository with or without tag and digest, or the start of an id.
class ImageMatcher {
 public:
  static Result<ImageMatcher> parse(std::string_view text);
  bool matches(std::string_view name, std::string_view id) const;

 private:
  std::string tagged_, pinned_, repository_, id_;
};

// Of lists as the API gives them; `inventories` may be null. An inventory that is older than
// schedulers believe (ten minutes), or as far ahead, counts as none.
struct ImageRows {
  std::vector<ImageRow> images;
  std::vector<LayerRow> layers;
  std::vector<std::string> nodes;  // all that exist
  std::vector<std::string> notes;  // for people
};

Result<ImageRows> image_rows(const json::value& nodes, const json::value& inventories, WallTime now,
                             const ImageFilter& filter);

// As crictl prints them: "771kB", "86.7MB", "1.24GB".
std::string image_size_text(std::int64_t bytes);
// Thirteen digits of a digest, as crictl's.
std::string short_id(std::string_view id);

}  // namespace plim::cli
