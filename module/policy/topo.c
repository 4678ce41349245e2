// SPDX-License-Identifier: GPL-2.0-only
/*
 * Affinity sequences: creation and the two look-ups. See llc_gran/topo.h.
 */
#include <llc_gran/topo.h>

static u32 apart(u32 a, u32 b)
{
	return a > b ? a - b : b - a;
}

/*
 * Does @a come before @b in the order of @self? Equal distances are told apart
 * by how far the numbers are from @self, then by the lower of each pair, so
 * that different rows do not all pick the same neighbour first.
 */
static bool comes_before(const u32 *row, u32 self, u32 a, u32 b)
{
	if (a == self || b == self)
		return a == self;
	if (row[a] != row[b])
		return row[a] < row[b];
	if (apart(self, a) != apart(self, b))
		return apart(self, a) < apart(self, b);

	return a < b;
}

static void sort_row(u8 *at, const u32 *row, u32 self, u32 nr)
{
	u32 i, j;

	for (i = 0; i < nr; i++) {
		for (j = i; j && comes_before(row, self, i, at[j - 1]); j--)
			at[j] = at[j - 1];
		at[j] = i;
	}
}

static int rank_node(struct llcg_topo_node *node, const u32 *distance)
{
	u32 nr = node->nr, i, k;

	if (!distance)
		return 0;
	if (nr > LLCG_MAX_RANKED)
		return -E2BIG;
	node->rank = llcg_zalloc((size_t)nr * nr, sizeof(*node->rank));
	node->at = llcg_zalloc((size_t)nr * nr, sizeof(*node->at));
	if (!node->rank || !node->at)
		return -ENOMEM;

	for (i = 0; i < nr; i++) {
		sort_row(node->at + i * nr, distance + i * nr, i, nr);
		for (k = 0; k < nr; k++)
			node->rank[i * nr + node->at[i * nr + k]] = k;
	}

	return 0;
}

static void order_nodes(struct llcg_topo *t, const u32 *distance)
{
	u32 nr = t->nr_nodes, i, k, pos;

	for (i = 0; i < nr; i++) {
		u8 *at = t->node_at + i * nr;

		sort_row(at, distance + i * nr, i, nr);
		for (k = 0, pos = 0; k < nr; k++) {
			u32 node = at[k], count = t->nodes[node].nr;

			t->node_offset[i * nr + node] = pos;
			if (t->pos_node)
				memset(t->pos_node + i * t->nr_llcs + pos, node, count);
			pos += count;
		}
	}
}

static int number_llcs(struct llcg_topo *t, const struct llcg_topo_spec *spec)
{
	u32 n, first = 0;

	t->even = spec->llcs_per_node[0];
	for (n = 0; n < spec->nr_nodes; n++) {
		t->nodes[n].first = first;
		t->nodes[n].nr = spec->llcs_per_node[n];
		memset(t->llc_node + first, n, spec->llcs_per_node[n]);
		first += spec->llcs_per_node[n];
		if (spec->llcs_per_node[n] != spec->llcs_per_node[0])
			t->even = 0;
	}
	if (t->even)
		return 0;

	t->pos_node = llcg_zalloc((size_t)t->nr_nodes * t->nr_llcs,
				  sizeof(*t->pos_node));

	return t->pos_node ? 0 : -ENOMEM;
}

static int count_llcs(const struct llcg_topo_spec *spec, u32 *nr_llcs)
{
	u32 n, sum = 0;

	if (!spec->nr_nodes)
		return -EINVAL;
	if (spec->nr_nodes > LLCG_MAX_NODES)
		return -E2BIG;
	for (n = 0; n < spec->nr_nodes; n++) {
		if (!spec->llcs_per_node[n])
			return -EINVAL;
		if (spec->llcs_per_node[n] > LLCG_MAX_LLCS - sum)
			return -E2BIG;
		sum += spec->llcs_per_node[n];
	}
	*nr_llcs = sum;

	return 0;
}

static int fill(struct llcg_topo *t, const struct llcg_topo_spec *spec)
{
	size_t square = (size_t)t->nr_nodes * t->nr_nodes;
	int err;
	u32 n;

	t->nodes = llcg_zalloc(t->nr_nodes, sizeof(*t->nodes));
	t->llc_node = llcg_zalloc(t->nr_llcs, sizeof(*t->llc_node));
	t->node_at = llcg_zalloc(square, sizeof(*t->node_at));
	t->node_offset = llcg_zalloc(square, sizeof(*t->node_offset));
	if (!t->nodes || !t->llc_node || !t->node_at || !t->node_offset)
		return -ENOMEM;

	err = number_llcs(t, spec);
	for (n = 0; !err && spec->llc_distance && n < t->nr_nodes; n++)
		err = rank_node(&t->nodes[n], spec->llc_distance[n]);
	if (err)
		return err;
	order_nodes(t, spec->node_distance);

	return 0;
}

/**
 * llcg_topo_create - compute the affinity sequences of a machine
 * @spec: its nodes, LLCs and distances; not referenced after return
 * @topo: set on success
 *
 * May sleep. O(nodes^2) where distances grow with the difference of the node
 * numbers, as they mostly do, O(nodes^3) at worst; likewise for the LLCs of a
 * node with distances.
 *
 * Return: 0, -EINVAL for a machine or node without LLCs, -E2BIG beyond
 * LLCG_MAX_NODES, LLCG_MAX_LLCS, or LLCG_MAX_RANKED for a node with distances,
 * -ENOMEM.
 */
int llcg_topo_create(const struct llcg_topo_spec *spec, struct llcg_topo **topo)
{
	struct llcg_topo *t;
	u32 nr_llcs;
	int err;

	err = count_llcs(spec, &nr_llcs);
	if (err)
		return err;
	t = llcg_zalloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->nr_llcs = nr_llcs;
	t->nr_nodes = spec->nr_nodes;

	err = fill(t, spec);
	if (err) {
		llcg_topo_destroy(t);
		return err;
	}
	*topo = t;

	return 0;
}

/**
 * llcg_topo_destroy - free what llcg_topo_create() made
 * @t: a topology nobody reads any more, or NULL
 */
void llcg_topo_destroy(struct llcg_topo *t)
{
	u32 n;

	if (!t)
		return;
	for (n = 0; t->nodes && n < t->nr_nodes; n++) {
		llcg_free(t->nodes[n].rank);
		llcg_free(t->nodes[n].at);
	}
	llcg_free(t->nodes);
	llcg_free(t->llc_node);
	llcg_free(t->node_at);
	llcg_free(t->node_offset);
	llcg_free(t->pos_node);
	llcg_free(t);
}

/**
 * llcg_topo_bytes - memory that the sequences take
 * @t: a topology
 */
size_t llcg_topo_bytes(const struct llcg_topo *t)
{
	size_t square = (size_t)t->nr_nodes * t->nr_nodes, sum = sizeof(*t);
	u32 n;

	sum += t->nr_nodes * sizeof(*t->nodes) + t->nr_llcs;
	sum += square * (sizeof(*t->node_at) + sizeof(*t->node_offset));
	if (t->pos_node)
		sum += (size_t)t->nr_nodes * t->nr_llcs;
	for (n = 0; n < t->nr_nodes; n++)
		if (t->nodes[n].rank)
			sum += 2 * (size_t)t->nodes[n].nr * t->nodes[n].nr;

	return sum;
}

/*
 * Inside a node without known distances the order is cyclic: a Latin square, in
 * which every LLC is the k-th choice of exactly one other for every k.
 */
static u32 rank_inside(const struct llcg_topo_node *node, u32 pref, u32 llc)
{
	if (node->rank)
		return node->rank[pref * node->nr + llc];

	return llc >= pref ? llc - pref : llc + node->nr - pref;
}

static u32 at_inside(const struct llcg_topo_node *node, u32 pref, u32 pos)
{
	u32 llc;

	if (node->at)
		return node->at[pref * node->nr + pos];
	llc = pref + pos;

	return llc >= node->nr ? llc - node->nr : llc;
}

/**
 * llcg_topo_rank - position of an LLC in an affinity sequence
 * @t: the topology
 * @pref: the preferred LLC, below @t->nr_llcs
 * @llc: the LLC looked for, below @t->nr_llcs
 *
 * Any context; O(1).
 *
 * Return: 0 for @pref itself, up to @t->nr_llcs - 1.
 */
u32 llcg_topo_rank(const struct llcg_topo *t, u32 pref, u32 llc)
{
	u32 home = t->llc_node[pref], other = t->llc_node[llc];
	const struct llcg_topo_node *node = &t->nodes[other];

	if (home == other)
		return rank_inside(node, pref - node->first, llc - node->first);

	return t->node_offset[home * t->nr_nodes + other] + llc - node->first;
}

/**
 * llcg_topo_at - LLC at a position of an affinity sequence
 * @t: the topology
 * @pref: the preferred LLC, below @t->nr_llcs
 * @pos: the position, below @t->nr_llcs
 *
 * The inverse of llcg_topo_rank(). Any context; O(1).
 */
u32 llcg_topo_at(const struct llcg_topo *t, u32 pref, u32 pos)
{
	u32 home = t->llc_node[pref], other;
	const struct llcg_topo_node *node = &t->nodes[home];

	if (pos < node->nr)
		return node->first + at_inside(node, pref - node->first, pos);

	if (t->even)
		other = t->node_at[home * t->nr_nodes + pos / t->even];
	else
		other = t->pos_node[home * t->nr_llcs + pos];

	return t->nodes[other].first + pos -
	       t->node_offset[home * t->nr_nodes + other];
}
