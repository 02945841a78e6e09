// The metrics of one iteration: a series is created once, and its value is set in each iteration.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plim::agent {

enum class MetricType : std::uint8_t { counter, gauge };

// Names must be valid label names of Prometheus.
using Labels = std::map<std::string, std::string>;

struct RenderOptions {
  std::int64_t timestamp_ms = -1;                    // below 0: none
  const std::vector<std::string>* names = nullptr;   // only these metrics; null: all
  const std::vector<std::string>* labels = nullptr;  // only these labels; null: all
};

// Flat arrays: an iteration only writes numbers into them. Belongs to one loop.
class MetricTable {
 public:
  using Family = std::uint32_t;
  using LabelsId = std::uint32_t;
  using Series = std::uint32_t;

  // Returns the existing family if there is one with this name.
  Family family(std::string_view name, MetricType type, std::string_view help);
  // Series of many families can share a label set. The caller drops it after its series.
  LabelsId add_labels(const Labels& labels);
  void drop_labels(LabelsId labels);
  Series add(Family family, LabelsId labels);
  void drop(Series series);

  void begin();  // clears the values of all series

  void set(Series series, double value) { set(series, Kind::real, value, 0); }

  void set(Series series, std::uint64_t value) { set(series, Kind::whole, 0, value); }

  // Writes Prometheus' text format: metrics sorted by name, samples by labels (see labels_before).
  // True: samples became equal because labels were left out, and only the last one is kept.
  bool render(std::string& out, const RenderOptions& options);

  std::size_t size() const { return series_.size() - free_series_.size(); }

 private:
  enum class Kind : std::uint8_t { absent, real, whole };

  struct FamilyData {
    std::string name, help;
    MetricType type;
    std::vector<Series> order = {};  // by labels, once sorted
    bool sorted = true;
  };

  struct SeriesData {
    Family family;
    LabelsId labels;
    double real = 0;
    std::uint64_t whole = 0;
    Kind kind = Kind::absent;
    bool used = true;
  };

  void set(Series series, Kind kind, double real, std::uint64_t whole) {
    SeriesData& data = series_[series];
    data.kind = kind;
    data.real = real;
    data.whole = whole;
  }

  void sort();
  void rank_labels();
  void render_samples(std::string& out, const FamilyData& family, std::int64_t timestamp_ms) const;
  bool render_filtered(std::string& out, const FamilyData& family,
                       const RenderOptions& options) const;

  std::vector<FamilyData> families_;
  std::map<std::string, Family, std::less<>> by_name_;
  std::vector<SeriesData> series_;
  std::vector<std::string> labels_;  // rendered: a="x",b="y"
  std::vector<std::uint32_t> ranks_;
  std::vector<Series> free_series_;
  std::vector<LabelsId> free_labels_;
  bool ranked_ = true;
};

// The order of samples: by keys, then by values. Values of digits only compare as numbers and come
// before others. The arguments are rendered labels.
bool labels_before(std::string_view a, std::string_view b);

}  // namespace plim::agent
