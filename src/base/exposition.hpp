// The text format of Prometheus, version 0.0.4.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plim::metrics {

constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

using Labels = std::vector<std::pair<std::string, std::string>>;
enum class Type { counter, gauge, histogram, untyped };

// `a="x",b="y"`: escapes values and replaces bytes that are not UTF-8, since one would break the
// whole scrape. An invalid label name is a bug in our code.
std::string render_labels(const Labels& labels);

// Collects samples by family, in any order, and prints each family once, sorted by name.
class Exposition {
 public:
  // If the family exists, continues it with its first help and type.
  class Family {
   public:
    void sample(const Labels& labels, double value) { sample("", render_labels(labels), value); }

    void sample(double value) { sample("", "", value); }

    // With a suffix like _bucket, and labels that are rendered already.
    void sample(std::string_view suffix, std::string_view labels, double value);

   private:
    friend class Exposition;

    explicit Family(std::pair<const std::string, std::string>& entry) : entry_(&entry) {}

    std::pair<const std::string, std::string>* entry_;  // name and text
  };

  Family family(std::string_view name, std::string_view help, Type type);
  std::string text() const;

 private:
  std::map<std::string, std::string> families_;
};

}  // namespace plim::metrics
