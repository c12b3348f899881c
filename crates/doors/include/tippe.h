/* Tippe for C and C++. Two surfaces in one library:
 *
 * - the collider: two bodies and two poses in, contact points out. It has no time and no memory; any number of threads may ask one
 *   collider at once, in any order.
 * - stepping: a scene that goes on in time at your word. One thread at a time per run.
 *
 * All numbers are in SI units, vectors and normals in the world's frame unless a frame is named, orientations w, x, y, z. A pose is
 * position x, y, z and orientation w, x, y, z of the body's own frame. Calls that return int return 0 when all went well; else
 * tippe_error() says what is wrong, in the thread that called. Nothing is thrown and nothing aborts.
 *
 * A scene is the name of a file, the name of a scene that comes with the program, or a text of more than one line.
 */
#ifndef TIPPE_H
#define TIPPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the library, and the error of the last call of this thread that failed. */
const char *tippe_version(void);
const char *tippe_error(void);

/* ---- the collider ---- */

typedef struct tippe_collider tippe_collider;

/* A contact point of bodies a and b. */
typedef struct {
    double p_a[3];      /* on the surface of a, in a's frame [m] */
    double p_b[3];      /* on the surface of b, in b's frame [m] */
    double normal_a[3]; /* unit normal out of a there, in the world [-] */
    double normal_b[3]; /* unit normal out of b there, in the world [-] */
    double depth;       /* [m]; while apart minus the distance: it goes through zero where they touch */
    double area;        /* area it stands for [m2]; 0 where unknown */
    uint64_t id;        /* the same for the same features at other poses */
} tippe_point;

/* What two bodies have in common. */
typedef struct {
    int32_t count;      /* points written */
    int32_t found;      /* points there are: more than count if there was no room, the deepest come first */
    double depth;       /* of the deepest point [m]; while apart minus the distance */
    double volume;      /* that both fill [m3]; 0 where unknown */
    double area;        /* of the patch [m2] */
    double centroid[3]; /* of the volume [m] */
} tippe_contact;

int tippe_collider_open(const char *scene, tippe_collider **collider);
void tippe_collider_close(tippe_collider *collider);
/* Bodies of the scene: how many, the name of one, the index of one (-1: there is none of that name). */
int tippe_collider_count(const tippe_collider *collider);
const char *tippe_collider_name(const tippe_collider *collider, int body);
int tippe_collider_body(const tippe_collider *collider, const char *name);
/* Contact of two bodies in these poses (7 numbers each); room for `most` points. */
int tippe_collider_pair(const tippe_collider *collider, int body_a, const double *pose_a, int body_b, const double *pose_b,
                        int most, tippe_point *points, tippe_contact *contact);

/* The same with all points of convex bodies that are less than `margin` apart [m], not the nearest alone. */
int tippe_collider_within(const tippe_collider *collider, int body_a, const double *pose_a, int body_b, const double *pose_b,
                          double margin, int most, tippe_point *points, tippe_contact *contact);

/* ---- stepping ---- */

typedef struct tippe_run tippe_run;
typedef struct tippe_state tippe_state;

/* A scene at its start. clock: "precise", "realtime", or NULL for the scene's; sets: `count` texts NAME=VALUE for [params]. */
int tippe_open(const char *scene, const char *clock, const char *const *sets, size_t count, tippe_run **run);

/* A foreign collider: your function gives the contact points of chosen pairs of bodies. It writes at most `most` points, sets contact->count, and
 * returns 0; of the rest of contact nothing is read. While the bodies are apart it gives the nearest points with depth = -distance, for the
 * precise clock locates the touch by them; points that are more than `margin` apart are not needed beside. `user` is handed back as it is.
 * Several threads may ask at once. Bodies are numbered as in the scene. */
typedef int (*tippe_collide)(void *user, int body_a, const double *pose_a, int body_b, const double *pose_b, double margin,
                             int most, tippe_point *points, tippe_contact *contact);
/* As tippe_open; pairs: `pair_count` texts "ONE,OTHER" with names of bodies, or NULL for all that may touch. */
int tippe_open_with(const char *scene, const char *clock, const char *const *sets, size_t count, const char *const *pairs,
                    size_t pair_count, tippe_collide collide, void *user, tippe_run **run);
void tippe_close(tippe_run *run);

/* Variables: how many, name, unit and role ("parameter", "input", "output") of one. tippe_find knows every signal of the scene, and
 * adds to the list those that are not in it yet; -1: there is none of that name. */
int tippe_count(tippe_run *run);
const char *tippe_name(tippe_run *run, int variable);
const char *tippe_unit(tippe_run *run, int variable);
const char *tippe_role(tippe_run *run, int variable);
int tippe_find(tippe_run *run, const char *name);
int tippe_get(tippe_run *run, const int *variables, size_t count, double *values);
int tippe_set(tippe_run *run, const int *variables, size_t count, const double *values);

/* Time [s]; on to a time, the realtime clock to the end of the step that reaches it; on to the first event before it. */
double tippe_time(tippe_run *run);
int tippe_advance(tippe_run *run, double until);
int tippe_advance_to_event(tippe_run *run, double until, int *event);

/* Events of the last stretch: how many, then time [s] and kind of one. The text is good until the next tippe_events. */
int tippe_events(tippe_run *run);
int tippe_event(tippe_run *run, int event, double *time, const char **kind);

/* Everything that survives: what follows a restored state has the same bits. */
int tippe_save(tippe_run *run, tippe_state **state);
int tippe_restore(tippe_run *run, const tippe_state *state);
void tippe_state_free(tippe_state *state);

#ifdef __cplusplus
}
#endif
#endif
